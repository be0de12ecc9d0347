import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { YAML } from 'bun'
import { z } from 'zod'
import packageJson from '../../package.json' with { type: 'json' }
import { NPM_PLATFORMS } from '../../scripts/release/npmPackages.ts'
import { ROOT, textOf } from '../docs/markdown.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/freePort.ts'
import { temporaryFolder } from '../support/process.ts'
import { sendRaw } from '../support/rawSender.ts'
import { startService } from '../support/service.ts'

/** Every environment variable that the operator's page describes. */
const variables = new Set(textOf('docs/operations.md').match(/(?<=`)(?:CREEL_[A-Z_]+|DATABASE_URL)(?=`)/g))

describe('deploy/systemd', () => {
  test.skipIf(Bun.which('systemd-analyze') === null)('the unit is sound, says systemd-analyze', async () => {
    const folder = await temporaryFolder()
    // systemd checks that the program exists.
    const unit = textOf('deploy/systemd/creel.service').replace('/usr/local/bin/creel', '/bin/true')
    await writeFile(join(folder, 'creel.service'), unit)
    const verified = Bun.spawnSync(['systemd-analyze', 'verify', './creel.service'], { cwd: folder })
    expect(verified.stderr.toString()).toBe('')
    expect(verified.exitCode).toBe(0)
  })

  test('the environment file names only variables that there are', () => {
    const named = textOf('deploy/systemd/creel.env').match(/^#?[A-Z_]+(?==)/gm) ?? []
    expect(named.length).toBeGreaterThan(0)
    expect(named.map((name) => name.replace('#', '')).filter((name) => !variables.has(name))).toEqual([])
  })

  test('the environment file has no comment behind a value, which systemd would take as a part of it', () => {
    expect(textOf('deploy/systemd/creel.env').match(/^#?[A-Z_]+=.*[ \t]#.*$/gm)).toBeNull()
  })
})

test('Prometheus scrapes the port that the unit and the containers serve metrics on', () => {
  const [, port] = /^CREEL_METRICS_PORT=(\d+)$/m.exec(textOf('deploy/systemd/creel.env')) ?? []
  expect(textOf('deploy/prometheus/scrape.yml')).toContain(`- targets: ["127.0.0.1:${port}"]`)
  expect(textOf('deploy/docker/compose.yaml')).toContain(`CREEL_METRICS_PORT: "${port}"`)
})

describe('deploy/docker', () => {
  const Service = z.looseObject({
    environment: z.record(z.string(), z.string()).optional(),
    volumes: z.array(z.string()).optional(),
    build: z.object({ context: z.string(), dockerfile: z.string() }).optional(),
    depends_on: z.union([z.array(z.string()), z.record(z.string(), z.unknown())]).optional(),
  })
  const { services } = z
    .looseObject({ services: z.record(z.string(), Service) })
    .parse(YAML.parse(textOf('deploy/docker/compose.yaml')))

  test('compose names only variables, services and files that there are', () => {
    const built = Object.entries(services).filter(([, { build }]) => build !== undefined)
    expect(built.map(([name]) => name)).toEqual(['gateway-1', 'gateway-2', 'jobs'])
    for (const service of Object.values(services)) {
      const ofCreel = service.build === undefined ? [] : Object.keys(service.environment ?? {})
      expect(ofCreel.filter((name) => !variables.has(name))).toEqual([])
      const needed = Array.isArray(service.depends_on)
        ? service.depends_on
        : Object.keys(service.depends_on ?? {})
      expect(needed.filter((name) => !(name in services))).toEqual([])
      const mounted = (service.volumes ?? []).map((volume) => volume.split(':')[0] ?? '')
      const files = mounted
        .filter((path) => path.startsWith('.'))
        .map((path) => join('deploy/docker', path))
        .concat(service.build === undefined ? [] : service.build.dockerfile)
      expect(files.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
    }
  })

  const hasCompose = Bun.spawnSync(['sh', '-c', 'docker compose version']).exitCode === 0
  test.skipIf(!hasCompose)('compose is sound, says docker', () => {
    const checked = Bun.spawnSync(
      ['docker', 'compose', '-f', 'deploy/docker/compose.yaml', 'config', '--quiet'],
      { cwd: ROOT, env: { ...process.env, CREEL_SECRET_KEY: 'x', POSTGRES_PASSWORD: 'x' } },
    )
    expect(checked.stderr.toString()).toBe('')
  })
})

describe('the workflow of a release', () => {
  const Step = z.looseObject({ run: z.string().optional(), uses: z.string().optional() })
  const Job = z.looseObject({
    permissions: z.record(z.string(), z.string()).optional(),
    strategy: z
      .object({
        matrix: z.object({ include: z.array(z.object({ platform: z.string(), runner: z.string() })) }),
      })
      .optional(),
    steps: z.array(Step),
  })
  const workflow = z
    .looseObject({
      permissions: z.record(z.string(), z.string()),
      env: z.object({ BUN_VERSION: z.string() }),
      jobs: z.record(z.string(), Job),
    })
    .parse(YAML.parse(textOf('.github/workflows/release.yml')))
  const { jobs } = workflow
  const scriptOf = (job: string) => (jobs[job]?.steps ?? []).map(({ run }) => run ?? '').join('\n')

  test('builds with the Bun of the sources, by scripts that there are', () => {
    expect(`bun@${workflow.env.BUN_VERSION}`).toBe(packageJson.packageManager)
    const scripts = Object.keys(jobs).flatMap((job) => [...scriptOf(job).matchAll(/bun@\S+ run (\S+)/g)])
    expect(scripts.map(([, name]) => name)).toEqual(['release', 'test'])
    expect(Object.keys(packageJson.scripts)).toContain('release')
  })

  test('tries and publishes the package of every system', () => {
    const tried = jobs.try?.strategy?.matrix.include.map(({ platform }) => platform)
    expect(tried?.toSorted()).toEqual([...NPM_PLATFORMS].sort())
    const published = /for platform in (.*); do/.exec(scriptOf('publish'))?.[1]?.split(' ')
    expect(published?.toSorted()).toEqual([...NPM_PLATFORMS].sort())
    expect(scriptOf('publish').match(/--provenance(?! mode)/g)).toHaveLength(1)
  })

  test('lets only the job that publishes write or sign', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' })
    expect(Object.keys(jobs).filter((job) => jobs[job]?.permissions !== undefined)).toEqual(['publish'])
  })

  test('is of shell that bash can read', () => {
    for (const job of Object.keys(jobs)) {
      const checked = Bun.spawnSync(['bash', '-n'], { stdin: Buffer.from(scriptOf(job)) })
      expect(checked.stderr.toString()).toBe('')
    }
  })
})

describe('deploy/nginx', () => {
  // Docker gives a container that is recreated another address.
  test('looks the addresses of the gateways up again, with the nginx of compose', () => {
    const servers = textOf('deploy/nginx/creel.conf').match(/^ *server gateway.*$/gm)
    expect(servers).toHaveLength(2)
    expect(servers?.filter((line) => !line.includes(' resolve '))).toEqual([])
    // Older ones refuse the parameter.
    const [, version = ''] = /image: nginx:(\S+)/.exec(textOf('deploy/docker/compose.yaml')) ?? []
    expect(Bun.semver.order(`${version}.99`, '1.27.3')).toBe(1)
  })

  test.skipIf(Bun.which('nginx') === null)(
    'passes on exactly what was sent, and goes on with one gateway when the other stops',
    async () => {
      const database = await createTestDatabase()
      const one = await startService({ database, parts: ['gateway'] })
      const two = await startService({ database, parts: ['gateway'], secretKey: one.secretKey })
      await using proxy = await startNginx([one.baseUrl, two.baseUrl])
      const { id } = await one.alice.endpoint()
      const hook = `${proxy.url}/hook/${id}`

      const target = `/hook/${id}/a%2Fb//c/./%7Ed?x=1&x=%20&&y`
      const fields = ['X_Under_Score: 1', 'x-MiXed: a', 'X-Twice: 2', 'X-Twice: 1']
      const lines = [`POST ${target} HTTP/1.1`, 'Host: in.example.com', 'Connection: close', ...fields]
      const answer = await sendRaw(
        proxy.url,
        `${[...lines, 'Content-Length: 3'].join('\r\n')}\r\n\r\n`,
        'a=b',
      )
      expect(answer.status).toBe(200)
      const stored = await one.alice.expect(
        one.alice.get(`/api/v1/endpoints/${id}/requests/1`),
        z.looseObject({
          url: z.string(),
          rawHeaders: z.array(z.object({ name: z.string(), value: z.string() })),
          body: z.string(),
        }),
      )
      expect(stored.url).toEndWith(target)
      expect(stored.body).toBe('a=b')
      const headers = stored.rawHeaders.map(({ name, value }) => `${name}: ${value}`)
      expect(headers.filter((header) => fields.includes(header))).toEqual(fields)
      expect(headers).toContain('Host: in.example.com')

      // More than nginx's default of 1 MB: Creel checks the cap of the plan, not nginx.
      const large = await fetch(hook, { method: 'POST', body: Buffer.alloc(3_000_000, 'x') })
      expect(large.status).toBe(200)

      await two.stop()
      const statuses = await Promise.all(
        Array.from({ length: 8 }, async () => (await fetch(hook, { method: 'POST', body: 'x' })).status),
      )
      expect(new Set(statuses)).toEqual(new Set([200]))
      await one.stop()
      await database.drop()
    },
  )
})

const UPSTREAM = /^upstream creel \{\n[^}]*\}$/m

/** nginx with the shipped configuration, and its gateways named as the documentation says. */
async function startNginx(gateways: readonly string[]): Promise<{ url: string } & AsyncDisposable> {
  const folder = await temporaryFolder()
  const port = await freePort()
  const [upstream = ''] = UPSTREAM.exec(textOf('docs/quickstarts/nginx-and-managed-postgres.md')) ?? []
  const site = textOf('deploy/nginx/creel.conf')
    .replace('listen 80', `listen 127.0.0.1:${port}`)
    .replace(UPSTREAM, upstream)
    .replaceAll(/10\.0\.0\.1(\d):4400/g, (_, number) => new URL(gateways[number - 1] ?? '').host)
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; pid ${folder}/nginx.pid; error_log stderr; events {}
     http { access_log off; ${kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')} ${site} }`,
  )
  const words = ['nginx', '-e', 'stderr', '-c', join(folder, 'nginx.conf')]
  const checked = Bun.spawnSync([...words, '-t'])
  if (checked.exitCode !== 0) throw new Error(checked.stderr.toString())
  const nginx = Bun.spawn(words, { stdio: ['ignore', 'ignore', 'ignore'] })
  const url = `http://127.0.0.1:${port}`
  await eventually('nginx before a healthy service', () =>
    fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return {
    url,
    async [Symbol.asyncDispose]() {
      nginx.kill('SIGTERM')
      await nginx.exited
    },
  }
}
