import { beforeAll, describe, expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PlanKey } from '@creel/core/plans'
import { z } from 'zod'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { PROGRAM, runCreel, TEST_SECRET_KEY, temporaryFolder } from '../support/process.ts'
import { startService, type TestService } from '../support/service.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A service on the same database. Tests make their preconditions through it, without a process. */
let service: TestService
let database: TestDatabase

beforeAll(async () => {
  service = await startService({ parts: ['gateway'], secretKey: Buffer.from(TEST_SECRET_KEY, 'base64') })
  database = service.database
})

const workspaceNamed = (name: string, plan: PlanKey = 'team') =>
  service.operator.workspaces.create({ name, plan })

/** Runs a command with `--json` that must succeed: stdout is one JSON value on one line, and nothing else. */
async function json(...words: string[]): Promise<unknown> {
  const { exitCode, stdout, stderr } = await runCreel([...words, '--json'], { database })
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(stdout).toMatch(/^[^\n]+\n$/)
  return JSON.parse(stdout)
}

/** Runs a command that must be refused: nothing on stdout, a message on stderr. */
async function refused(...words: string[]): Promise<{ exitCode: number; stderr: string }> {
  const { exitCode, stdout, stderr } = await runCreel([...words, '--json'], { database })
  expect(stdout).toBe('')
  expect(stderr).not.toContain('    at ')
  return { exitCode, stderr }
}

describe('creel workspace', () => {
  test('create, list and set-plan print what the contract says', async () => {
    const made = await json('workspace', 'create', '--name', 'Acme', '--plan', 'solo')
    expect(made).toEqual({ id: expect.stringMatching(UUID), name: 'Acme', plan: 'solo' })
    expect(await json('workspace', 'create', '--name', 'Beta')).toMatchObject({ plan: 'team' })
    expect(await json('workspace', 'set-plan', '--workspace', 'Acme', '--plan', 'pro')).toEqual({
      ...Object(made),
      plan: 'pro',
    })
    const [newest, before] = z.array(z.unknown()).parse(await json('workspace', 'list'))
    expect([newest, before]).toMatchObject([
      { name: 'Beta', plan: 'team' },
      { name: 'Acme', plan: 'pro' },
    ])
  })

  test('rename changes the name alone, to one that is free', async () => {
    const client = await service.newClient()
    const { workspaceId } = client
    await workspaceNamed('Occupied')
    const renamed = { id: workspaceId, name: 'Renamed', plan: expect.any(String) }
    expect(await json('workspace', 'rename', workspaceId, '--name', ' Renamed ')).toEqual(renamed)
    expect((await client.get('/api/v1/me')).body).toMatchObject({ workspace: { name: 'Renamed' } })
    expect(await json('workspace', 'rename', 'Renamed', '--name', 'Renamed')).toEqual(renamed)
    const taken = await refused('workspace', 'rename', 'Renamed', '--name', 'Occupied')
    expect(taken).toEqual({ exitCode: 1, stderr: expect.stringContaining('named "Occupied" already') })
    expect(await refused('workspace', 'rename', 'Renamed', '--name', ' ')).toMatchObject({ exitCode: 2 })
    expect(await refused('workspace', 'rename', 'nobody', '--name', 'X')).toMatchObject({ exitCode: 1 })
    const { items } = await service.operator.audit.list({
      workspace: workspaceId,
      action: 'workspaces.rename',
      pageSize: 10,
    })
    expect(items).toMatchObject([{ after: { name: 'Renamed' } }])
  })

  test('a taken name, an unknown plan and an unknown workspace are refused', async () => {
    await workspaceNamed('Taken')
    const taken = await refused('workspace', 'create', '--name', 'Taken')
    expect(taken).toEqual({ exitCode: 1, stderr: expect.stringContaining('named "Taken" already') })
    expect(await refused('workspace', 'create', '--name', 'X', '--plan', 'gold')).toMatchObject({
      exitCode: 2,
    })
    const unknown = await refused('workspace', 'set-plan', '--workspace', 'nobody', '--plan', 'pro')
    expect(unknown.exitCode).toBe(1)
    expect(unknown.stderr).toContain('creel workspace list')
  })
})

describe('creel key', () => {
  test('the key is shown by create alone; list and revoke show its prefix', async () => {
    const workspace = await workspaceNamed('Keys')
    const made = Object(await json('key', 'create', '--workspace', workspace.id, '--name', 'ci'))
    expect(made).toEqual({
      key: expect.stringMatching(/^creel_live_/),
      prefix: expect.any(String),
      name: 'ci',
      scope: 'admin',
      endpointId: null,
      expiresAt: null,
    })
    expect(made.key).toStartWith(made.prefix)

    const listed = await json('key', 'list', '--workspace', 'Keys')
    expect(listed).toEqual([expect.objectContaining({ name: 'ci', prefix: made.prefix, revokedAt: null })])
    expect(JSON.stringify(listed)).not.toContain(made.key)

    const revoked = await json('key', 'revoke', '--workspace', 'Keys', '--key', made.prefix)
    expect(revoked).toMatchObject({ prefix: made.prefix, revokedAt: expect.any(String) })
    expect(await json('key', 'revoke', '--workspace', 'Keys', '--key', made.prefix)).toEqual(revoked)
  })

  test('the only workspace need not be named; of several one must be', async () => {
    const several = await refused('key', 'list')
    expect(several).toMatchObject({ exitCode: 1 })
    expect(several.stderr).toContain('name one with --workspace (')
    const alone = await createTestDatabase()
    const run = (...words: string[]) => runCreel(words, { database: alone })
    expect((await run('key', 'list')).stderr).toContain('creel workspace create')
    expect(await run('workspace', 'create', '--name', 'Only')).toMatchObject({ exitCode: 0 })
    expect(await run('key', 'create', '--name', 'laptop')).toMatchObject({ exitCode: 0 })
    expect((await run('key', 'list')).stdout).toContain('laptop')
    expect(await run('contact', 'add', '--email', 'ada@example.test')).toMatchObject({ exitCode: 0 })
    expect((await run('contact', 'list')).stdout).toContain('ada@example.test')
    await alone.drop()
  })

  test('a key or a purge takes an endpoint by its name', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint({ name: 'Orders EU' })
    const create = ['key', 'create', '--workspace', client.workspaceId, '--name', 'ci', '--scope', 'read']
    expect(await json(...create, '--endpoint', 'orders eu')).toMatchObject({ endpointId: endpoint.id })
    expect(await json(...create, '--endpoint', endpoint.id)).toMatchObject({ endpointId: endpoint.id })
    const unknown = await refused(...create, '--endpoint', 'github')
    expect(unknown).toMatchObject({ exitCode: 1 })
    expect(unknown.stderr).toContain('no endpoint with the id or name "github"')
    await client.endpoint({ name: 'Orders EU' })
    expect((await refused(...create, '--endpoint', 'Orders EU')).stderr).toContain(endpoint.id)
    const purge = ['purge', '--workspace', client.workspaceId, '--yes']
    expect((await refused(...purge, '--endpoint', 'orders')).exitCode).toBe(1)
  })

  test('a key needs a name, and one above the plan is refused with what to do', async () => {
    const workspace = await workspaceNamed('Solo', 'solo')
    expect(await refused('key', 'create', '--workspace', 'Solo')).toMatchObject({ exitCode: 2 })
    expect(await refused('key', 'create', '--workspace', 'Solo', '--name', '')).toEqual({
      exitCode: 2,
      stderr: 'creel: --name must be at least 1 character long.\n',
    })
    for (const name of ['a', 'b', 'c']) await service.operator.keys.create({ workspace: workspace.id, name })
    const fourth = await refused('key', 'create', '--workspace', 'Solo', '--name', 'd')
    expect(fourth.exitCode).toBe(1)
    expect(fourth.stderr).toContain('creel key revoke')
  })
})

describe('creel contact', () => {
  test('add, list and remove', async () => {
    await workspaceNamed('People')
    const added = await json(
      'contact',
      'add',
      '--workspace',
      'People',
      '--email',
      'ops@example.com',
      '--name',
      'Ops',
    )
    expect(added).toMatchObject({ email: 'ops@example.com', name: 'Ops' })
    expect(await json('contact', 'list', '--workspace', 'People')).toEqual([added])
    expect(
      await refused('contact', 'add', '--workspace', 'People', '--email', 'ops@example.com'),
    ).toMatchObject({
      exitCode: 1,
    })
    expect(await refused('contact', 'add', '--workspace', 'People', '--email', 'ops')).toMatchObject({
      exitCode: 2,
    })
    await json('contact', 'remove', '--workspace', 'People', '--contact', 'ops@example.com')
    expect(await json('contact', 'list', '--workspace', 'People')).toEqual([])
  })
})

describe('creel purge', () => {
  test('counts without --yes, and removes for good with it', async () => {
    const client = await service.newClient()
    const endpoint = await client.endpoint()
    for (const body of ['1', '2']) await endpoint.send({ body })

    const counted = await refused('purge', '--workspace', client.workspaceId)
    expect(counted.exitCode).toBe(2)
    expect(counted.stderr).toContain('2 requests')
    expect(
      await refused('purge', '--workspace', client.workspaceId, '--request', '1', '--yes'),
    ).toMatchObject({
      exitCode: 2,
    })
    expect(
      await json('purge', '--workspace', client.workspaceId, '--endpoint', endpoint.id, '--yes'),
    ).toEqual({
      purgedCount: 2,
    })
    expect(await endpoint.requests()).toEqual([])
  })
})

describe('creel migrate', () => {
  test('brings an empty database up to date; until then other commands say what to do', async () => {
    const empty = await createTestDatabase({ isEmpty: true })
    const early = await runCreel(['workspace', 'list'], { database: empty })
    expect(early.exitCode).toBe(1)
    expect(early.stderr).toContain('creel migrate')

    const [first, second] = [
      await runCreel(['migrate', '--json'], { database: empty }),
      await runCreel(['migrate', '--json'], { database: empty }),
    ]
    expect(JSON.parse(first.stdout).applied.length).toBeGreaterThan(0)
    expect(JSON.parse(second.stdout)).toEqual({ applied: [] })
    await empty.drop()
  })

  test('several at once on an empty database do no harm', async () => {
    const empty = await createTestDatabase({ isEmpty: true })
    const results = await Promise.all(
      [1, 2, 3].map(() => runCreel(['migrate', '--json'], { database: empty })),
    )
    expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0])
    const applied = results.flatMap(({ stdout }) => JSON.parse(stdout).applied)
    expect(new Set(applied).size).toBe(applied.length)
    await empty.drop()
  })
})

describe('creel jobs', () => {
  test('counts the jobs of every queue; before the first start it says what to do', async () => {
    const endpoint = await service.alice.endpoint()
    await service.alice.post(endpoint.at('/actions'), { kind: 'forward', url: 'http://127.0.0.1:9/' })
    const of = async (queue: string) =>
      z
        .array(z.looseObject({ queue: z.string(), due: z.int() }))
        .parse(await json('jobs'))
        .find((one) => one.queue === queue)
    expect((await endpoint.send()).status).toBe(200)
    // The job of the action's lane is due some seconds later, for the case that no look comes before.
    expect(await of('deliveries.lanes')).toMatchObject({
      schedule: null,
      later: expect.any(Number),
      running: 0,
      nextAt: expect.any(String),
    })
    expect(await of('storage.sweep')).toMatchObject({ schedule: 'every 10 s', failed: 0 })
    expect(await of('endpoints.sweep')).toMatchObject({ schedule: '* * * * *' })

    const empty = await createTestDatabase({ isEmpty: true })
    const early = await runCreel(['jobs'], { database: empty })
    expect(early).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('creel serve') })
    await empty.drop()
  })
})

describe('creel config', () => {
  test('prints every effective variable, secrets masked', async () => {
    const printed = Object(await json('config'))
    expect(printed).toMatchObject({ CREEL_PORT: 0, CREEL_SECRET_KEY: '***', CREEL_HOST: '127.0.0.1' })
  })

  test('prints values that it takes itself', async () => {
    const given = {
      CREEL_RETRY_SCHEDULE: '250ms,90s,2h',
      CREEL_ALLOW_DESTINATIONS: '127.0.0.0/8,10.0.0.0/8',
      CREEL_ALERT_API_URLS: 'telegram=http://127.0.0.1:9,opsgenie=http://127.0.0.1:9',
      CREEL_STORAGE_MAX: '50GiB',
    }
    const first = await runCreel(['config'], { env: given })
    expect(first.stdout).toContain('CREEL_RETRY_SCHEDULE\t250ms,90s,2h\n')
    const rows = first.stdout.split('\n\n')[0]?.split('\n').slice(1) ?? []
    const env = Object.fromEntries(rows.map((row) => [row.split('\t')[0] ?? '', row.split('\t')[1] ?? '']))
    const again = await runCreel(['config'], { env })
    expect(again).toEqual({ exitCode: 0, stderr: '', stdout: first.stdout })
  })

  test('a plans file lifts limits; one that names an unknown plan stops the start', async () => {
    const file = join(await temporaryFolder(), 'plans.json')
    await writeFile(file, '{"solo":{"apiKeysMax":9}}')
    const lifted = await runCreel(['config', '--json'], { env: { CREEL_PLANS_FILE: file } })
    expect(JSON.parse(lifted.stdout).plans.solo).toMatchObject({ apiKeysMax: 9, endpointsMax: 10 })
    await writeFile(file, '{"gold":{"apiKeysMax":9}}')
    const stopped = await runCreel(['serve'], { database, env: { CREEL_PLANS_FILE: file } })
    expect(stopped.exitCode).toBe(2)
    expect(stopped.stderr).toContain('gold')
  })
})

describe('help', () => {
  test('lists the commands; that of config the variables and the exit codes', async () => {
    const { exitCode, stdout } = await runCreel(['--help'])
    expect(exitCode).toBe(0)
    for (const word of ['serve', 'workspace', 'purge', 'creel help config']) expect(stdout).toContain(word)
    const { stdout: ofConfig } = await runCreel(['help', 'config'])
    for (const word of ['CREEL_DATA_DIR', 'Exit codes']) expect(ofConfig).toContain(word)
  })

  test('of a subcommand is found by its words, and after a mistake by what is said', async () => {
    const help = await runCreel(['help', 'key', 'create'])
    expect(help.stdout).toStartWith('Usage: creel key create')
    const mistaken = await runCreel(['key', 'create'])
    expect(mistaken.exitCode).toBe(2)
    expect(mistaken.stderr).toContain('`creel key create --help`')
    expect((await runCreel(['help', 'key', 'nonsense'])).exitCode).toBe(2)
  })
})

describe('creel audit', () => {
  test('names some members of a change, and none of a creation', async () => {
    const client = await service.newClient()
    const { id } = await client.endpoint({ name: 'audited' })
    await client.patch(`/api/v1/endpoints/${id}`, {
      name: 'renamed',
      isActive: false,
      provider: 'github',
      allowRehearsal: true,
      responseStatusCode: 202,
    })
    const words = ['audit', '--workspace', client.workspaceId, '--endpoint', id]
    const { stdout } = await runCreel(words, { database })
    const [, changed = '', made = ''] = stdout.trimEnd().split('\n')
    expect(changed).toMatch(/endpoints\.update\s+endpoint renamed\s+(\w+ ){3}\w+ and \d more$/)
    expect(made.trimEnd()).toMatch(/endpoints\.create\s+endpoint audited$/)
  })
})

describe('what is printed', () => {
  test('is tab-separated lines where nobody looks', async () => {
    const { stdout } = await runCreel(['workspace', 'list'], { database })
    expect(stdout).toStartWith('Id\tName\tPlan\tCreated\n')
  })

  test.skipIf(Bun.which('script') === null)('is aligned columns on a terminal', () => {
    const child = Bun.spawnSync(['script', '-qec', `${PROGRAM.join(' ')} config`, '/dev/null'], {
      env: { PATH: process.env.PATH, TERM: 'xterm', CREEL_LOG_LEVEL: 'silent' },
    })
    const lines = Bun.stripANSI(child.stdout.toString()).split('\r\n')
    const starts = lines.filter((line) => /^(Variable|CREEL_LOG_LEVEL) /.test(line))
    const columns = starts.map((line) => line.search(/Value|silent/))
    expect(columns).toHaveLength(2)
    expect(columns[0]).toBeGreaterThan('CREEL_LOG_LEVEL '.length)
    expect(columns[1]).toBe(columns[0] ?? -1)
    expect(child.exitCode).toBe(0)
  })
})

describe('completion', () => {
  /** The completions that a shell offers, as words. */
  const QUESTIONS: Readonly<Record<string, (script: string, line: string) => string[]>> = {
    bash: (script, line) => ['bash', '--norc', '-c', `${script}\n${asked(line)}`],
    zsh: (script, line) => [
      'zsh',
      '-fc',
      `autoload -Uz compinit && compinit -u -D\n${script}\nemulate sh -c '${asked(line)}'`,
    ],
    fish: (script, line) => ['fish', '--no-config', '-c', `${script}\ncomplete -C'creel ${line}'`],
  }
  const asked = (line: string) =>
    `COMP_WORDS=(creel ${line}); COMP_CWORD=${line.split(' ').length}; _creel; echo "\${COMPREPLY[@]}"`

  for (const [shell, question] of Object.entries(QUESTIONS)) {
    test.skipIf(Bun.which(shell) === null)(`${shell} asks the program what may come next`, async () => {
      const folder = await temporaryFolder()
      const creel = PROGRAM.map((word) => `'${word}'`).join(' ')
      await writeFile(join(folder, 'creel'), `#!/bin/sh\nexec ${creel} "$@"\n`, { mode: 0o755 })
      const script = await runCreel(['completion', shell])
      expect(script.exitCode).toBe(0)
      const words = (line: string) => {
        const env = { ...process.env, HOME: folder, PATH: `${folder}:${process.env.PATH}` }
        const { stdout, stderr } = Bun.spawnSync(question(script.stdout, line), { env })
        expect(stderr.toString()).toBe('')
        return stdout.toString().trim().split(/\s+/)
      }
      expect(words('key rev')).toEqual(['revoke'])
      expect(words('workspace create --plan te')).toEqual(['team'])
    })
  }
})
