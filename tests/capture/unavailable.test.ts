import { describe, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { openDatabase } from '@creel/core'
import { isDatabaseOutage } from '@creel/core/platform/db'
import { adminUrl } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { whileReadOnly } from '../support/outage.ts'
import { servicePerTest, type TestService } from '../support/service.ts'
import { administer } from '../support/templateDatabase.ts'

const start = servicePerTest()

const nameOf = ({ database }: TestService) => /test_[0-9a-f]+/.exec(database.url)?.[0] ?? ''

/** Lets Postgres refuse new connections and end the existing ones. */
async function goAway(service: TestService): Promise<void> {
  const name = nameOf(service)
  await administer(
    adminUrl(),
    `ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
  )
}

const comeBack = (service: TestService) =>
  administer(adminUrl(), `ALTER DATABASE ${nameOf(service)} WITH ALLOW_CONNECTIONS true`)

async function untilStored(send: () => Promise<Response>): Promise<void> {
  await eventually('a capture that is stored', async () => {
    const { status } = await send()
    // Until then every answer is 503.
    if (status !== 200) expect(status).toBe(503)
    return status === 200
  })
}

describe('while Postgres is away', () => {
  test('senders get 503 with Retry-After, never a 404 or a 2xx, and captures resume by themselves', async () => {
    const service = await start({ parts: ['gateway'] })
    const known = await service.alice.endpoint()
    const unread = await service.alice.endpoint()
    expect((await known.send()).status).toBe(200)

    await goAway(service)
    const unknown = () => fetch(`${service.captureUrl}/hook/${randomUUID()}`, { method: 'POST', body: '{}' })
    for (const send of [() => known.send(), () => unread.send(), unknown, () => known.send()]) {
      const answer = await send()
      expect({ status: answer.status, text: await answer.text() }).toEqual({
        status: 503,
        text: '{"error":"unavailable"}',
      })
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    }

    await comeBack(service)
    await untilStored(() => known.send())
    await untilStored(() => unread.send())
    expect((await unknown()).status).toBe(404)
    expect(await known.requests()).toHaveLength(2)
  })

  test('a load that meets a lost connection loses nothing acknowledged', async () => {
    const service = await start({ parts: ['gateway'], limits: { captureRatePerMinute: 1_000_000 } })
    const endpoint = await service.alice.endpoint()
    const acknowledged: string[] = []
    let sent = 0
    const sender = async () => {
      while (acknowledged.length < 600) {
        sent += 1
        const body = `n${sent}`
        const answer = await endpoint.send({ body, headers: { 'Content-Type': 'text/plain' } })
        if (answer.status === 200) acknowledged.push(body)
        else expect(answer.status).toBe(503)
      }
    }
    const disturb = async () => {
      while (acknowledged.length < 600) {
        const before = acknowledged.length
        await administer(
          adminUrl(),
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${nameOf(service)}'`,
        )
        const goal = Math.min(600, before + 100)
        await eventually(`${goal} acknowledged captures`, () => acknowledged.length >= goal)
      }
    }
    await Promise.all([...Array.from({ length: 16 }, sender), disturb()])
    const stored = await service.db.selectFrom('requests').select('body').execute()
    const bodies = new Set(stored.map(({ body }) => body.toString()))
    expect(acknowledged.filter((body) => !bodies.has(body))).toEqual([])
  })
})

test('while the database is read-only senders and callers get 503 with Retry-After, and its sessions are left when it is not', async () => {
  const service = await start({ parts: ['gateway'] })
  const endpoint = await service.alice.endpoint()
  const readiness = async () => (await fetch(`${service.baseUrl}/readyz`)).status
  expect((await endpoint.send()).status).toBe(200)
  await whileReadOnly(service.database, async () => {
    await eventually('a session that is read-only', async () => (await readiness()) === 503)
    const captured = await endpoint.send()
    const called = await service.alice.post('/api/v1/endpoints', {})
    expect([captured.status, called.status]).toEqual([503, 503])
    for (const { headers } of [captured, called])
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await readiness()).toBe(503)
  })
  await untilStored(() => endpoint.send())
  expect((await service.alice.post('/api/v1/endpoints', {})).status).toBe(201)
  expect(await readiness()).toBe(200)
})

/** A process that is stopped in a transaction, after it has locked the counters of an endpoint. */
async function frozenWith(service: TestService, endpointId: string, statementSeconds?: number) {
  const { pool, close } = openDatabase(service.database.url, 1, 1, statementSeconds)
  const client = await pool.connect()
  await client.query('begin')
  await client.query('select from endpoint_counters where endpoint_id = $1 for update', [endpointId])
  return {
    client,
    async thaw() {
      client.release(true)
      await close()
    },
  }
}

describe('while a process is frozen that has locked an endpoint', () => {
  test('PostgreSQL ends its session when its statements would have ended, and captures of the endpoint go on', async () => {
    const service = await start({ parts: ['gateway'] })
    const endpoint = await service.alice.endpoint()
    const frozen = await frozenWith(service, endpoint.id, 6)
    try {
      await untilStored(() => endpoint.send())
      const error = await frozen.client.query('select').catch((error: unknown) => error)
      expect(isDatabaseOutage(error)).toBeTrue()
    } finally {
      await frozen.thaw()
    }
  })

  test('captures of other endpoints are stored, also those that wait in a batch with captures of the locked one', async () => {
    const service = await start({ parts: ['gateway'] })
    const locked = await service.alice.endpoint()
    const others = [await service.alice.endpoint(), await service.alice.endpoint()]
    // Without a limit of idle transactions.
    const frozen = await frozenWith(service, locked.id, 0)
    try {
      const answers = await Promise.all([locked, locked, ...others].map((endpoint) => endpoint.send()))
      expect(answers.map(({ status }) => status)).toEqual([503, 503, 200, 200])
      // From now on none waits for the locked one: a batch with it would take ten seconds.
      const began = performance.now()
      const again = await Promise.all([locked, ...others].map((endpoint) => endpoint.send()))
      expect(again.map(({ status }) => status)).toEqual([503, 200, 200])
      expect(performance.now() - began).toBeLessThan(9_000)
    } finally {
      await frozen.thaw()
    }
    expect((await locked.send()).status).toBe(200)
    for (const endpoint of others) expect(await endpoint.requests()).toHaveLength(2)
  })
})
