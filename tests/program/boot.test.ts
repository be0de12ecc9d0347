import { describe, expect, test } from 'bun:test'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { adminUrl, createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/freePort.ts'
import { preparedFolder, runCreel, startProcess, temporaryFolder } from '../support/process.ts'
import { urlOfDatabase } from '../support/templateDatabase.ts'

const isRoot = process.getuid?.() === 0

/** A folder whose first boot prints the key. */
const kept = await preparedFolder()

describe('creel serve, on an embedded PostgreSQL', () => {
  test('the first boot prints one key, one endpoint, one link, then the ready line, and both work; no other has the folder', async () => {
    const cwd = await preparedFolder()
    const creel = await startProcess({ cwd, env: { CREEL_LOG_LEVEL: 'silent' } })
    expect(creel.lines).toEqual([
      expect.stringMatching(/^creel key creel_live_[A-Za-z0-9]{20,}$/),
      expect.stringMatching(/^creel endpoint http:\/\/127\.0\.0\.1:\d+\/hook\/[0-9a-f-]{36}$/),
      expect.stringMatching(/^creel console http:\/\/127\.0\.0\.1:\d+\/console\/sign-in#[\w-]{40,}$/),
      `creel ready base=${creel.baseUrl} capture=${creel.captureUrl}`,
    ])
    const headers = { Authorization: `Bearer ${creel.first?.key}` }
    const endpoints = await (await fetch(`${creel.baseUrl}/api/v1/endpoints`, { headers })).json()
    expect(endpoints).toMatchObject({ totalCount: 1, items: [{ url: creel.first?.captureUrl }] })
    expect(await creel.stop()).toBe(0)

    const again = await startProcess({ cwd })
    expect(again.lines).toEqual([`creel ready base=${again.baseUrl} capture=${again.captureUrl}`])
    expect((await fetch(`${again.baseUrl}/api/v1/me`, { headers })).status).toBe(200)

    // Another process on the same folder is refused, and this one keeps running.
    const second = await runCreel(['serve'], { cwd })
    expect(second.exitCode).toBe(1)
    expect(second.stderr).toContain(`in use by another creel (process ${again.pid})`)
    expect((await fetch(`${again.baseUrl}/healthz`)).status).toBe(200)
    expect(await again.stop()).toBe(0)
  })

  test('the greeting has what a shell needs, each address once, and no log line holds the key', async () => {
    const creel = await startProcess({ cwd: kept, env: { CREEL_LOG_LEVEL: 'trace' } })
    await creel.stop()
    const said = creel.stderr()
    const logged = said.split('\n').filter((line) => line.startsWith('{'))
    const hook = creel.first?.captureUrl ?? ''
    expect(said).toContain(`  export CREEL_URL=${creel.baseUrl} HOOK=${hook}\n`)
    expect(said.split(hook)).toHaveLength(2)
    expect(said).not.toContain('Captures are kept')
    expect(said).not.toContain('sign-in#')
    expect(logged.length).toBeGreaterThan(0)
    expect(logged.join()).not.toContain(creel.first?.key)
    // stderr often ends in a log: the key is on stdout alone.
    expect(creel.stderr()).not.toContain(creel.first?.key)
  })

  test('on the plan self-hosted, the first boot says for how long captures are kept', async () => {
    const creel = await startProcess({
      cwd: await preparedFolder(),
      env: { CREEL_DEFAULT_PLAN: 'self-hosted', CREEL_LOG_LEVEL: 'warn' },
    })
    await creel.stop()
    expect(creel.stderr()).toContain(
      'Captures are kept for 100 years (plan self-hosted). To delete them earlier, set retentionDays of self-hosted in CREEL_PLANS_FILE',
    )
  })

  test('the data folder keeps the secret key to its owner, and another key is refused with words', async () => {
    const cwd = kept
    const file = join(cwd, '.creel', 'secret.key')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    // A user who can open the lock can keep the service from starting.
    for (const name of ['owner.lock', 'owner.pid'])
      expect((await stat(join(cwd, '.creel', name))).mode & 0o777).toBe(0o600)
    expect(Buffer.from(await readFile(file, 'utf8'), 'base64')).toHaveLength(32)

    await writeFile(file, `${Buffer.alloc(32, 1).toString('base64')}\n`)
    const refused = await runCreel(['serve'], { cwd })
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain('is not the key that this database was set up with')
    expect(refused.stderr).not.toContain('    at ')

    await rm(file)
    const withoutKey = await runCreel(['serve'], { cwd })
    expect(withoutKey.exitCode).toBe(1)
    expect(withoutKey.stderr).toContain('secret.key is missing')
    expect(withoutKey.stderr).toContain('Restore it from your backup')
    expect(await stat(file).catch(() => 'none')).toBe('none')
  })

  test('a data folder with a path too long for a socket works', async () => {
    const cwd = await preparedFolder('a'.repeat(60), 'b'.repeat(60))
    const creel = await startProcess({ cwd })
    expect((await runCreel(['workspace', 'list', '--json'], { cwd })).stdout).toContain('"default"')
    expect(await creel.stop()).toBe(0)
  })

  test.if(isRoot)('root can run it where nobody else can reach', async () => {
    const cwd = await temporaryFolder()
    await Bun.$`chmod 700 ${cwd}`.quiet()
    const creel = await startProcess({ cwd })
    expect(await creel.stop()).toBe(0)
    const again = await startProcess({ cwd })
    expect(again.first).toBeUndefined()
    expect(await again.stop()).toBe(0)
  })
})

describe('creel serve, ports and addresses', () => {
  test('a taken port is named, with what to do', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const address = other.address()
    const port = address !== null && typeof address === 'object' ? String(address.port) : ''
    const database = await createTestDatabase()
    const refused = await runCreel(['serve'], { database, env: { CREEL_PORT: port } })
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain(`Port ${port} of 127.0.0.1 is in use by another program. Set CREEL_PORT`)
    const metrics = await runCreel(['serve'], { database, env: { CREEL_METRICS_PORT: port } })
    expect(metrics.exitCode).toBe(1)
    expect(metrics.stderr).toContain('Set CREEL_METRICS_PORT')
    await new Promise((resolve) => other.close(resolve))
    const both = await runCreel(['serve'], { database, env: { CREEL_PORT: port, CREEL_METRICS_PORT: port } })
    expect(both.exitCode).toBe(1)
    expect(both.stderr).toContain('in use by the gateway itself. Set CREEL_METRICS_PORT')
    await database.drop()
  })

  test('public addresses are those that are configured, and former hosts answer 301 to them', async () => {
    const database = await createTestDatabase()
    const port = await freePort()
    const creel = await startProcess({
      database,
      env: {
        CREEL_PORT: String(port),
        CREEL_BASE_URL: 'https://api.example.com/',
        CREEL_CAPTURE_URL: 'https://in.example.com',
        CREEL_FORMER_HOSTS: 'old.example.com',
      },
    })
    expect(creel.lines.at(-1)).toBe('creel ready base=https://api.example.com capture=https://in.example.com')
    expect(creel.first?.captureUrl).toStartWith('https://in.example.com/hook/')
    const own = `http://127.0.0.1:${port}`
    for (const method of ['GET', 'POST', 'DELETE']) {
      const headers = { Host: 'old.example.com' }
      const answer = await fetch(`${own}/api/v1/endpoints?page=2`, { method, headers, redirect: 'manual' })
      expect(answer.status).toBe(301)
      expect(answer.headers.get('location')).toBe('https://api.example.com/api/v1/endpoints?page=2')
    }
    expect((await fetch(`${own}/healthz`)).status).toBe(200)
    expect(await creel.stop()).toBe(0)
    await database.drop()
  })
})

describe('a wrong environment', () => {
  test('names every wrong variable at once, starts nothing and ends with 2', async () => {
    const cwd = await temporaryFolder()
    const env = {
      CREEL_PORT: 'http',
      CREEL_LOG_LEVEL: 'loud',
      CREEL_SECRET_KEY: 'c2hvcnQ=',
      DATABASE_URL: 'mysql://x',
    }
    const result = await runCreel(['serve'], { cwd, env })
    expect(result.exitCode).toBe(2)
    expect(result.stdout).toBe('')
    for (const name of Object.keys(env)) expect(result.stderr).toContain(name)
    expect(result.stderr).not.toContain('c2hvcnQ=')
    expect(await stat(join(cwd, '.creel')).catch(() => 'absent')).toBe('absent')
  })

  test('a wrong command line ends with 2 and suggests the right one', async () => {
    const result = await runCreel(['workspac', 'list'])
    expect(result.exitCode).toBe(2)
    expect(result.stderr).toContain('Did you mean workspace?')
  })

  test('a database that is not there is reported in words', async () => {
    const url = urlOfDatabase(adminUrl(), 'nowhere')
    const refused = await runCreel(['serve'], { database: { url } })
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain('database "nowhere" does not exist')
    expect(refused.stderr).toContain('Check DATABASE_URL')
  })
})
