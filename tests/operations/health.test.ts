import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { pino } from 'pino'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { whileDatabaseIsAway } from '../support/outage.ts'
import { startService, type TestService } from '../support/service.ts'

/** The text that Prometheus reads. */
const scrape = async () => await (await fetch(`${service.baseUrl}/metrics`)).text()

/** The value of one sample in Prometheus' text format. */
function sampleOf(text: string, sample: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${sample} `))
  return line === undefined ? 0 : Number(line.slice(sample.length + 1))
}

let service: TestService

beforeAll(async () => {
  service = await startService()
})

describe('/healthz', () => {
  test('says that the process lives, without a key', async () => {
    const answer = await fetch(`${service.baseUrl}/healthz`)
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({ status: 'ok' })
  })
})

describe('another method', () => {
  test.each(['/healthz', '/readyz', '/metrics', '/openapi/v1.json', '/llms.txt'])(
    'of %s is a problem that names those it takes',
    async (path) => {
      for (const method of ['POST', 'DELETE']) {
        const answer = await fetch(service.baseUrl + path, { method })
        expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
        expect(answer.headers.get('content-type')).toBe('application/problem+json')
        expect(await answer.json()).toMatchObject({ code: 'method_not_allowed', status: 405 })
      }
      const head = await fetch(service.baseUrl + path, { method: 'HEAD' })
      expect([head.status, await head.text()]).toEqual([200, ''])
    },
  )

  test('of an unknown path is 404', async () => {
    expect((await fetch(`${service.baseUrl}/nothing`, { method: 'POST' })).status).toBe(404)
  })
})

describe('/readyz', () => {
  test('answers 200 with database and queue reachable', async () => {
    const answer = await fetch(`${service.baseUrl}/readyz`)
    expect(answer.status).toBe(200)
    const checks = { database: 'ok', queue: 'ok' }
    expect(await answer.json()).toEqual({ status: 'ready', checks, jobs: 'ok' })
  })

  test('answers 503 while the database is away', async () => {
    await whileDatabaseIsAway(service, async () => {
      const answer = await fetch(`${service.baseUrl}/readyz`)
      expect(answer.status).toBe(503)
      expect(await answer.json()).toEqual({
        status: 'unavailable',
        checks: { database: 'unavailable', queue: 'unavailable' },
        jobs: expect.stringMatching(/^(ok|unknown)$/),
      })
      expect((await fetch(`${service.baseUrl}/healthz`)).status).toBe(200)
    })
    expect((await fetch(`${service.baseUrl}/readyz`)).status).toBe(200)
  })

  test('holds one connection, however many ask while a check waits', async () => {
    const asked = await service.db.transaction().execute(async (trx) => {
      await sql`lock table pgboss.version in access exclusive mode`.execute(trx)
      const asking = () => Promise.all(Array.from({ length: 20 }, () => fetch(`${service.baseUrl}/readyz`)))
      // The second ones come after the timeout of the first.
      const statuses = [...(await asking()), ...(await asking())].map(({ status }) => status)
      const { rows } = await sql`select from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock' and query = 'select version from pgboss.version'`.execute(trx)
      return { statuses: new Set(statuses), waiting: rows.length }
    })
    expect(asked).toEqual({ statuses: new Set([503]), waiting: 1 })
    await eventually('readiness', async () => (await fetch(`${service.baseUrl}/readyz`)).status === 200)
  })
})

describe('/metrics', () => {
  test('leaves out the queues of other versions, whose jobs are not taken here, and ends the schedules of former ones only', async () => {
    const { boss } = service.running
    for (const name of ['deliveries.flows', 'newer.sweep']) {
      await boss.createQueue(name)
      await boss.schedule(name, '* * * * *')
      await boss.send(name, {})
    }
    const { database, clock, secretKey } = service
    const next = await startService({ database, clock, secretKey })
    const scheduled = (await boss.getSchedules()).map(({ name }) => name)
    expect(scheduled).not.toContain('deliveries.flows')
    expect(scheduled).toContain('newer.sweep')
    expect(await scrape()).not.toMatch(/deliveries\.flows|newer\.sweep/)
    await boss.unschedule('newer.sweep')
    await next.stop()
  })

  test('counts API calls by procedure and status, and reads the depth of every queue', async () => {
    const calls = 'creel_api_request_seconds_count{route="me.get",status="200"}'
    const before = sampleOf(await scrape(), calls)
    await service.alice.get('/api/v1/me')
    const after = await scrape()
    expect(sampleOf(after, calls)).toBe(before + 1)
    expect(after).toContain('creel_queue_depth{queue="deliveries.lanes"} ')
    expect(after).toContain('creel_queue_lag_seconds{queue="deliveries.lanes"} ')
    for (const kind of ['delivery', 'alert', 'event', 'rehearsal']) {
      expect(after).toContain(`creel_sends_waiting{kind="${kind}"} `)
      expect(after).toContain(`creel_send_lag_seconds{kind="${kind}"} `)
    }
  })

  test('has every series that an alert watches from the start, at 0', async () => {
    const served = await scrape()
    for (const reason of ['400', '431', '505', '503', 'throttled']) {
      expect(served).toContain(`creel_refused_requests_total{reason="${reason}"}`)
    }
    for (const limit of ['requests', 'bytes', 'storage']) {
      expect(served).toContain(`creel_evicted_requests_total{limit="${limit}"}`)
    }
    expect(served).toContain('creel_delivery_attempts_total{state="DeadLetter"}')
    expect(served).toContain('creel_build_info{')
  })

  test('counts captures by outcome, commits and their batches', async () => {
    const stored = 'creel_captures_total{outcome="stored"}'
    const before = await scrape()
    await (await service.alice.endpoint()).captureMany(2)
    const after = await scrape()
    expect(sampleOf(after, stored)).toBe(sampleOf(before, stored) + 2)
    const commits = 'creel_capture_commit_seconds_count'
    expect(sampleOf(after, commits)).toBeGreaterThan(sampleOf(before, commits))
    const batches = 'creel_capture_batch_size_sum'
    expect(sampleOf(after, batches)).toBe(sampleOf(before, batches) + 2)
  })
})

describe('the log', () => {
  const Line = z.looseObject({ msg: z.string() })

  function logInMemory() {
    const lines: string[] = []
    const log = pino({ level: 'info' }, { write: (line: string) => lines.push(line) })
    return { log, text: () => lines.join(''), lines: () => lines.map((line) => Line.parse(JSON.parse(line))) }
  }

  test('has one line a call, with the traceId of the answer and without what was asked', async () => {
    const { log, lines, text } = logInMemory()
    const { alice } = await startService({ log })
    const refused = await alice.get('/api/v1/endpoints/nothing?q=private')
    const { traceId } = z.object({ traceId: z.string() }).parse(refused.body)
    const line = lines().filter(({ msg }) => msg === 'request')
    expect(line).toEqual([
      expect.objectContaining({
        traceId,
        method: 'GET',
        path: '/api/v1/endpoints/nothing',
        route: 'endpoints.get',
        status: 404,
        keyPrefix: alice.key.slice(0, 17),
        workspaceId: alice.workspaceId,
        durationMs: expect.any(Number),
      }),
    ])
    expect(text()).not.toContain('private')
    expect(text()).not.toContain(alice.key)
  })

  test('knows the cause of an internal_error, under its traceId; the answer does not', async () => {
    const { log, lines } = logInMemory()
    const service = await startService({ log })
    // As after a failed migration: every query that reads the table fails.
    await sql`alter table watchdogs rename to misplaced`.execute(service.db)
    const failed = await service.alice.get('/api/v1/watchdogs')
    expect(failed).toMatchObject({ status: 500, body: { code: 'internal_error' } })
    expect(failed.text).not.toContain('watchdogs')
    const { traceId } = z.object({ traceId: z.string() }).parse(failed.body)
    const causes = lines().filter((line) => line.traceId === traceId && line.err !== undefined)
    expect(causes).toHaveLength(1)
  })

  test('has a line a second while the database is away, and callers are told to come back', async () => {
    const { log, lines } = logInMemory()
    const service = await startService({ parts: ['gateway'], log })
    await whileDatabaseIsAway(service, async () => {
      const begun = performance.now()
      const calls = Array.from({ length: 20 }, () => service.alice.get('/api/v1/me'))
      for (const { status, body, headers } of await Promise.all(calls)) {
        expect({ status, body }).toMatchObject({ status: 503, body: { code: 'unavailable' } })
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      }
      // Text without the format of a key is refused without a query.
      const headers = { Authorization: 'Bearer nonsense' }
      expect((await fetch(`${service.baseUrl}/api/v1/me`, { headers })).status).toBe(401)
      const told = lines().filter(({ msg }) => msg === 'the database did not answer')
      expect(told.length).toBeWithin(1, 2 + Math.floor((performance.now() - begun) / 1000))
    })
  })
})
