import { afterAll, describe, expect, test } from 'bun:test'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { YAML } from 'bun'
import { z } from 'zod'
import packageJson from '../../creel/package.json' with { type: 'json' }
import { isAlive } from '../../creel/src/stopping.ts'
import { launcherTarball } from '../../scripts/release/npmPackages.ts'
import { fencesOf, textOf } from '../docs/markdown.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/freePort.ts'
import { PROGRAM, temporaryFolder } from '../support/process.ts'
import { startService } from '../support/service.ts'

/** The steps of docs/quickstarts/ci.md, run as a runner does, in a shell. */

const ROOT = join(import.meta.dir, '../..')
const PAGE = fencesOf(textOf('docs/clients.md'))
const [GITHUB, GITLAB] = fencesOf(textOf('docs/quickstarts/ci.md'))
  .filter(({ language }) => language === 'yaml')
  .map(({ code }) => YAML.parse(code))
const started: number[] = []
const hasNpx = Bun.which('npx') !== null

const FACTS = { version: packageJson.version, repository: undefined }
const COMMAND = 'creel/dist/creel'
const UNPACK = 'tar -xzf creel.tgz && mv package creel && mkdir creel/dist'
/** Steps but those that bring the clone and its executable: the run has both. */
const isNoInstallation = (line: string) => !/^(?:git clone|\(cd creel && npx|npx -y bun@\S+) /.test(line)

afterAll(async () => {
  for (const pid of started) process.kill(pid)
  await eventually('the end of every service that a job started', () => !started.some(isAlive))
})

interface Ran {
  readonly code: number
  readonly out: string
}

async function shell(script: string, cwd: string, env: Record<string, string>): Promise<Ran> {
  const child = Bun.spawn(['bash', '-eo', 'pipefail', '-c', script], {
    cwd,
    env: { PATH: process.env.PATH ?? '', TMPDIR: cwd, CREEL_LOG_LEVEL: 'silent', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return { out: await new Response(child.stdout).text(), code: await child.exited }
}

/**
 * A folder as a job finds it after the build: what starts a service, as the npm package has it too, and a command that
 * runs this run's program. Its PostgreSQL is set up already, where this run has one prepared: that takes longer than the
 * rest of the job.
 */
async function jobFolder(): Promise<{ folder: string; env: Record<string, string> }> {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'creel.tgz'), (await launcherTarball(FACTS)).contents)
  expect((await shell(UNPACK, folder, {})).code).toBe(0)
  const words = PROGRAM.map((word) => `'${word}'`).join(' ')
  const prepared = process.env.CREEL_TEST_DATA_FOLDER
  const lines = [
    '#!/bin/sh',
    ...(prepared === undefined
      ? []
      : [
          '[ "$1" = serve ] && mkdir -m 711 "$CREEL_DATA_DIR" && chmod 711 "$CREEL_DATA_DIR/.." &&',
          `  cp -a '${join(prepared, 'postgres')}' "$CREEL_DATA_DIR"`,
        ]),
    `exec ${words} "$@"`,
  ]
  await writeFile(join(folder, COMMAND), `${lines.join('\n')}\n`, { mode: 0o755 })
  return { folder, env: { CREEL_PORT: String(await freePort()) } }
}

const variablesOf = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/^(\w[\w-]*)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  )

test.skipIf(!hasNpx)(
  'the GitHub Action starts a service, masks its key and exports how it is reached',
  async () => {
    const Action = z.object({
      runs: z.object({
        using: z.literal('composite'),
        steps: z.array(z.object({ run: z.string() })).length(1),
      }),
    })
    const { folder, env } = await jobFolder()
    const action = Action.parse(YAML.parse(await readFile(join(folder, 'creel/action.yml'), 'utf8')))
    const files = { GITHUB_ENV: join(folder, 'env'), GITHUB_OUTPUT: join(folder, 'output') }
    const { code, out } = await shell(action.runs.steps[0]?.run ?? '', folder, {
      ...env,
      ...files,
      GITHUB_ACTION_PATH: join(folder, 'creel'),
      CREEL_EXECUTABLE: join(folder, COMMAND),
    })
    expect(code).toBe(0)
    const exported = variablesOf(await readFile(files.GITHUB_ENV, 'utf8'))
    started.push(Number(exported.CREEL_PID))
    const { CREEL_URL = '', CREEL_KEY = '', CREEL_HOOK_URL = '' } = exported
    expect(out).toBe(`::add-mask::${CREEL_KEY}\n`)
    expect(variablesOf(await readFile(files.GITHUB_OUTPUT, 'utf8'))).toEqual({
      url: CREEL_URL,
      key: CREEL_KEY,
      'hook-url': CREEL_HOOK_URL,
    })
    expect((await fetch(CREEL_HOOK_URL, { method: 'POST', body: '{}' })).status).toBe(200)
    const headers = { Authorization: `Bearer ${CREEL_KEY}` }
    expect((await fetch(`${CREEL_URL}/api/v1/me`, { headers })).status).toBe(200)

    // The job's own steps, with what the action exported.
    const Job = z.object({ steps: z.array(z.looseObject({ run: z.string().optional() })) })
    const { jobs } = z.object({ jobs: z.object({ webhooks: Job }) }).parse(GITHUB)
    const steps = jobs.webhooks.steps.flatMap(({ run }) => run ?? []).filter(isNoInstallation)
    expect(steps).toHaveLength(2)
    for (const step of steps)
      expect(await shell(step, folder, { ...env, ...exported })).toMatchObject({ code: 0 })
  },
)

test.skipIf(!hasNpx)('the GitLab job starts a service and reaches it', async () => {
  const Job = z.object({
    webhooks: z.object({ before_script: z.array(z.string()), script: z.array(z.string()) }),
  })
  const { before_script, script } = Job.parse(GITLAB).webhooks
  const { folder, env } = await jobFolder()
  const lines = [...before_script.filter(isNoInstallation), ...script, 'printf "\\nPID=%s\\n" "$CREEL_PID"']
  const { code, out } = await shell(lines.join('\n'), folder, env)
  started.push(Number(variablesOf(out).PID))
  expect(code).toBe(0)
  expect(JSON.parse(await readFile(join(folder, 'webhook.json'), 'utf8'))).toMatchObject({
    label: 'order.paid',
  })
})

test('a program that does not start ends the job with its log', async () => {
  const folder = await temporaryFolder()
  const { code } = await shell(`${join(ROOT, 'deploy/ci/start.sh')} /bin/false 2>/dev/null`, folder, {})
  expect(code).toBe(1)
})

describe('the pytest fixture', () => {
  const hasPytest = Bun.spawnSync(['python3', '-c', 'import pytest'], {
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  test.skipIf(hasPytest.exitCode !== 0)('gives a test an endpoint, and deletes it', async () => {
    const service = await startService()
    const folder = await temporaryFolder()
    const fixture = PAGE.find(({ language }) => language === 'python')?.code ?? ''
    expect(fixture.trim().split('\n').length).toBeLessThanOrEqual(33)
    await writeFile(join(folder, 'conftest.py'), fixture)
    await writeFile(
      join(folder, 'test_orders.py'),
      `import json, pytest, urllib.request

def send(url, body):
    urllib.request.urlopen(url, data=json.dumps(body).encode()).read()

def test_two_webhooks(hook):
    send(hook.url, {"n": 1})
    send(hook.url, {"n": 2})
    assert [json.loads(hook.next()["body"])["n"] for _ in range(2)] == [1, 2]

def test_nothing_comes(hook):
    with pytest.raises(AssertionError, match="no webhook within 1 s"):
        hook.next(timeout=1)
`,
    )
    const { code, out } = await shell('python3 -m pytest -q -p no:cacheprovider', folder, {
      CREEL_URL: service.baseUrl,
      CREEL_KEY: service.alice.key,
      PYTHONDONTWRITEBYTECODE: '1',
    })
    expect([code, out]).toEqual([0, expect.stringContaining('2 passed')])
    expect((await service.alice.get('/api/v1/endpoints')).body).toMatchObject({ totalCount: 0 })
  })
})
