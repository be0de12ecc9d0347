import { describe, expect, test } from 'bun:test'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { openDatabase } from '@creel/core'
import { sql } from 'kysely'
import { z } from 'zod'
import { CAPTURED_IDS } from '../../core/src/capture/plainStatements.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/freePort.ts'
import {
  PROGRAM,
  preparedFolder,
  type RunningProcess,
  runCreel,
  startProcess,
  temporaryFolder,
} from '../support/process.ts'
import { post, Senders, storedBodies } from './senders.ts'

/** The key and endpoint of a first boot, as options of later calls. */
function firstOf(creel: RunningProcess) {
  if (creel.first === undefined) throw new Error('This was not the first boot.')
  const { key, captureUrl } = creel.first
  return { key, endpointId: captureUrl.slice(captureUrl.lastIndexOf('/') + 1) }
}

const pidOfPostgres = async (cwd: string) =>
  Number((await readFile(join(cwd, '.creel/postgres/cluster-18/postmaster.pid'), 'utf8')).split('\n')[0])

/** Raises the capture rate, which the load would exceed. */
async function withoutRate(): Promise<{ CREEL_PLANS_FILE: string }> {
  const file = join(await temporaryFolder(), 'plans.json')
  await writeFile(file, '{"team":{"captureRatePerMinute":1000000}}')
  return { CREEL_PLANS_FILE: file }
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

/**
 * Opens a capture and holds back its body, so that a drain must wait for it. Returns when the service expects the body.
 */
async function holdCapture(url: string) {
  const { hostname, port, pathname } = new URL(url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  const wanted = Promise.withResolvers<void>()
  socket.on('data', (chunk) => {
    answer += chunk
    if (!answer.startsWith(CONTINUE)) return
    answer = answer.slice(CONTINUE.length)
    wanted.resolve()
  })
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.write(`POST ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n`)
  await wanted.promise
  socket.write('he')
  return { finish: () => socket.write('ld'), closed, answer: () => answer }
}

describe('SIGTERM', () => {
  test('answers who waits, takes in what is being sent, refuses new calls, and ends with 0', async () => {
    const metricsPort = String(await freePort())
    const env = { CREEL_METRICS_PORT: metricsPort }
    const creel = await startProcess({ database: await createTestDatabase(), env })
    const { key, endpointId } = firstOf(creel)
    const monitored = (path: string) => fetch(`http://127.0.0.1:${metricsPort}${path}`)
    const headers = { Authorization: `Bearer ${key}` }
    const waiting = fetch(
      `${creel.baseUrl}/api/v1/endpoints/${endpointId}/requests/await?timeoutSeconds=60`,
      { headers },
    )
    const held = await holdCapture(`${creel.captureUrl}/hook/${endpointId}`)
    await eventually('the await', async () =>
      /^creel_awaits_waiting 1$/m.test(await (await monitored('/metrics')).text()),
    )

    creel.signal('SIGTERM')
    expect((await waiting).status).toBe(204)
    expect(await post(`${creel.captureUrl}/hook/${endpointId}`, '{}')).toBe('refused')
    const readiness = await monitored('/readyz')
    expect([readiness.status, await readiness.json()]).toMatchObject([503, { status: 'draining' }])
    expect((await monitored('/healthz')).status).toBe(200)
    held.finish()
    await held.closed
    expect(held.answer()).toStartWith('HTTP/1.1 200')
    expect(await creel.exited).toBe(0)
  })

  test('given twice ends at once, with 143', async () => {
    const database = await createTestDatabase()
    const creel = await startProcess({ database, env: { CREEL_LOG_LEVEL: 'info' } })
    const { endpointId } = firstOf(creel)
    await holdCapture(`${creel.captureUrl}/hook/${endpointId}`)
    creel.signal('SIGTERM')
    await eventually('the drain in the log', () => creel.stderr().includes('draining'))
    // Two signals within a tenth of a second count as one: npx and the terminal both pass on Ctrl-C. A busy process begins
    // to count late.
    const repeated = setInterval(() => creel.signal('SIGTERM'), 150)
    expect(await creel.exited).toBe(143)
    clearInterval(repeated)
    const again = await startProcess({ database })
    expect(await again.stop()).toBe(0)
  })
})

test('a gateway that is ready has the connection of captures: the first sender waits for none', async () => {
  const database = await createTestDatabase()
  const creel = await startProcess({ database }, ['--only', 'gateway'])
  const { db, close } = openDatabase(database.url, 1)
  // Each session shows the statement that it has prepared last.
  const prepared = await sql`
    select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and query = ${CAPTURED_IDS}`.execute(db)
  expect(prepared.rows).toHaveLength(1)
  await close()
  expect(await creel.stop()).toBe(0)
  await database.drop()
})

test('a service whose messages nobody reads goes on', async () => {
  const program = ['bash', '-c', 'exec "$@" 2> >(exec true)', 'bash', ...PROGRAM]
  const creel = await startProcess({ database: await createTestDatabase(), program })
  const { captureUrl } = creel.first ?? { captureUrl: '' }
  for (let count = 0; count < 50; count += 1)
    expect((await fetch(captureUrl, { method: 'POST', body: 'x' })).status).toBe(200)
  expect(await creel.stop()).toBe(0)
})

describe('SIGKILL', () => {
  test('of the service under load loses nothing acknowledged; the next start adopts its PostgreSQL', async () => {
    const cwd = await preparedFolder()
    const creel = await startProcess({ cwd, env: await withoutRate() })
    const { key, endpointId } = firstOf(creel)
    const senders = new Senders([`${creel.captureUrl}/hook/${endpointId}`])
    await senders.acknowledged(200)
    const postgres = await pidOfPostgres(cwd)
    creel.signal('SIGKILL')
    await creel.exited
    await senders.stop()

    const again = await startProcess({ cwd })
    expect(await pidOfPostgres(cwd)).toBe(postgres)
    const stored = await storedBodies(again.baseUrl, key, endpointId)
    expect(senders.bodies.filter((body) => !stored.includes(body))).toEqual([])
    expect(await again.stop()).toBe(0)
  })

  test('of PostgreSQL under load loses nothing acknowledged; captures resume by themselves', async () => {
    const cwd = await preparedFolder()
    const creel = await startProcess({ cwd, env: await withoutRate() })
    const { key, endpointId } = firstOf(creel)
    const senders = new Senders([`${creel.captureUrl}/hook/${endpointId}`])
    await senders.acknowledged(200)
    process.kill(await pidOfPostgres(cwd), 'SIGKILL')
    await senders.acknowledged(400)
    await senders.stop()
    // While it was down senders got 503 or no answer, never another error.
    expect([...senders.statuses].filter((status) => status !== 200 && status !== 503)).toEqual([])
    const stored = await storedBodies(creel.baseUrl, key, endpointId)
    expect(senders.bodies.filter((body) => !stored.includes(body))).toEqual([])
    expect(await creel.stop()).toBe(0)
  })
})

describe('several processes on one database', () => {
  test('a rolling restart under load loses and duplicates nothing acknowledged', async () => {
    const database = await createTestDatabase()
    const env = await withoutRate()
    const gateway = () => startProcess({ database, env }, ['--only', 'gateway'])
    const jobs = await startProcess({ database }, ['--only', 'jobs'])
    expect(jobs.lines).toEqual(['creel ready jobs'])
    const first = await gateway()
    const { key, endpointId } = firstOf(first)
    const second = await gateway()
    expect(second.first).toBeUndefined()

    const urlOf = (process: RunningProcess) => `${process.captureUrl}/hook/${endpointId}`
    const senders = new Senders([urlOf(first), urlOf(second)])
    await senders.acknowledged(200)
    const third = await gateway()
    senders.urls.push(urlOf(third))
    expect(await first.stop()).toBe(0)
    senders.urls.shift()
    await senders.acknowledged(600)
    expect(await second.stop()).toBe(0)
    senders.urls.shift()
    await senders.acknowledged(900)
    await senders.stop()

    // When a gateway stops, the kernel resets connections that are not accepted yet. Nothing was read from them, so the
    // proxy's retry is stored only once.
    expect([...senders.statuses]).toEqual([200])
    const stored = await storedBodies(third.baseUrl, key, endpointId)
    expect(stored.toSorted()).toEqual(senders.bodies.toSorted())
    expect(await third.stop()).toBe(0)
    expect(await jobs.stop()).toBe(0)
    await database.drop()
  })
})

describe('creel healthcheck', () => {
  test('and doctor find the service of this folder, whatever its port', async () => {
    const cwd = await preparedFolder()
    const creel = await startProcess({ cwd })
    expect(await runCreel(['healthcheck'], { cwd })).toMatchObject({ exitCode: 0, stdout: 'ready\n' })
    const { stdout } = await runCreel(['doctor', '--json'], { cwd })
    const { checks } = z
      .object({ checks: z.array(z.looseObject({ name: z.string(), level: z.string(), found: z.string() })) })
      .parse(JSON.parse(stdout))
    expect(checks).toContainEqual(
      expect.objectContaining({ name: 'CREEL_BASE_URL', level: 'ok', found: creel.baseUrl }),
    )
    expect(await runCreel(['upgrade-check'], { cwd })).toMatchObject({ exitCode: 0 })
    expect(await creel.stop()).toBe(0)
  })

  test('names the checks that fail', async () => {
    await using server = Bun.serve({
      port: 0,
      fetch: () => Response.json({ checks: { database: 'unavailable', queue: 'ok' } }, { status: 503 }),
    })
    const url = `http://127.0.0.1:${server.port}/readyz`
    const { exitCode, stderr } = await runCreel(['healthcheck', '--url', url])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('the status is 503 (database unavailable; the log of the service says why)')
  })

  test('ends with 0 while the service is ready and with 1 when it is not there', async () => {
    const database = await createTestDatabase()
    const creel = await startProcess({ database })
    const url = `${creel.baseUrl}/readyz`
    expect(await runCreel(['healthcheck', '--url', url])).toMatchObject({ exitCode: 0, stdout: 'ready\n' })
    await creel.stop()
    const refused = await runCreel(['healthcheck', '--url', url])
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
    expect(refused.stderr).toContain('nothing listens there')
    expect((await runCreel(['healthcheck', '--url', 'nonsense'])).exitCode).toBe(2)
    await database.drop()
  })
})
