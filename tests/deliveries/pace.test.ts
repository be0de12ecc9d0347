import { describe, expect, test } from 'bun:test'
import { openDatabase } from '@creel/core'
import { sql } from 'kysely'
import { Client } from '../support/client.ts'
import { createTestDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { startFar } from '../support/far.ts'
import { startReceiver } from '../support/receiver.ts'
import { servicePerTest, type TestService } from '../support/service.ts'
import { GovernedAction, governedAction, numbered, sendAll } from './governed.ts'

const startService = servicePerTest()
const LIMITS = { captureRatePerMinute: 1_000_000, apiRatePerMinute: 1_000_000 }

const sharedWith = ({ database, clock, secretKey }: TestService) => ({
  limits: LIMITS,
  database,
  clock,
  secretKey,
})

describe('concurrency', () => {
  test('holds over two processes, and every delivery arrives once', async () => {
    let inFlight = 0
    let most = 0
    await using receiver = await startReceiver((_request, response) => {
      inFlight += 1
      most = Math.max(most, inFlight)
      setTimeout(() => {
        inFlight -= 1
        response.end('ok')
      }, 10)
    })
    const first = await startService({ limits: LIMITS })
    await startService({ ...sharedWith(first), parts: ['jobs'] })
    const action = await governedAction(first.alice, receiver.url, { concurrency: 3 })
    await sendAll(action.endpoint, numbered(60))
    await receiver.take(60)
    await action.isDone()
    expect(most).toBeLessThanOrEqual(3)
    expect(new Set(receiver.received.map(({ body }) => body.toString())).size).toBe(60)
    expect(receiver.received).toHaveLength(60)
  })
})

describe('a rate', () => {
  test('holds over two processes in every window of its length', async () => {
    const arrivals: number[] = []
    await using receiver = await startReceiver((_request, response) => {
      arrivals.push(performance.now())
      response.end('ok')
    })
    const first = await startService({ limits: LIMITS })
    await startService({ ...sharedWith(first), parts: ['jobs'] })
    const action = await governedAction(first.alice, receiver.url, { rate: { count: 20, perSeconds: 1 } })
    await sendAll(action.endpoint, numbered(50))
    await receiver.take(50)
    // No window of a second, wherever it begins, holds more than 20.
    const windows = arrivals.map((from) => arrivals.filter((at) => at >= from && at < from + 1000).length)
    expect(Math.max(...windows)).toBeLessThanOrEqual(20)
    await action.isDone()
    expect(receiver.received).toHaveLength(50)
  })

  test('keeps the fractions of its milliseconds', async () => {
    await using receiver = await startReceiver()
    const { alice, db } = await startService({ limits: LIMITS })
    const action = await governedAction(alice, receiver.url, { rate: { count: 700, perSeconds: 1 } })
    await sendAll(action.endpoint, numbered(1))
    await action.isDone()
    const { rows } = await sql<{ microseconds: number }>`
      select (extract(microseconds from next_start_at)::int % 1000) as microseconds
      from action_flows where action_id = ${action.id}`.execute(db)
    expect(rows[0]?.microseconds).toBeGreaterThan(0)
  })

  test('a start that is missed costs no period of a slow rate', async () => {
    await using receiver = await startReceiver()
    const far = await startFar(await createTestDatabase())
    const { alice, clock } = await startService({ limits: LIMITS, database: far })
    // A look has shown that the database is far away, so the next one leaves time before its start.
    const fast = await governedAction(alice, receiver.url, { rate: { count: 10, perSeconds: 1 } })
    await sendAll(fast.endpoint, numbered(1))
    await fast.isDone()
    const slow = await governedAction(alice, receiver.url, { rate: { count: 1, perSeconds: 3600 } })
    await sendAll(slow.endpoint, numbered(2))
    const near = openDatabase(far.near.url, 1)
    // A busy machine may see it only once it has ended.
    const claimed = sql`select from delivery_attempts where action_id = ${slow.id}`
    await eventually('the claim', async () => (await claimed.execute(near.db)).rows[0], { every: 5 })
    await near.close()
    // As if the process had been busy meanwhile.
    await clock.advance(2000)
    await receiver.take(2)
    await eventually('the result', async () => (await slow.backlog()).inFlight === 0)
    expect(await slow.backlog()).toMatchObject({ waiting: 1 })
    expect(receiver.received).toHaveLength(2)
  })

  test('that is raised holds at once, also for what a slower one had put off', async () => {
    await using receiver = await startReceiver()
    const { alice } = await startService({ limits: LIMITS })
    const breaker = { failures: 5, windowSeconds: 60, probeEverySeconds: 60 }
    const slow = { rate: { count: 1, perSeconds: 3600 }, breaker }
    const action = await governedAction(alice, receiver.url, slow)
    await sendAll(action.endpoint, numbered(3))
    await receiver.take(1)
    await action.put({ delivery: { rate: { count: 10, perSeconds: 1 }, breaker } })
    expect((await action.backlog()).breaker.nextProbeAt).toBeNull()
    await receiver.take(3)
    await action.isDone()
  })

  test('a receiver that asks for time gets it, from the whole action', async () => {
    const arrivals: number[] = []
    await using receiver = await startReceiver((_request, response) => {
      arrivals.push(performance.now())
      response.writeHead(arrivals.length === 1 ? 503 : 200, { 'retry-after': '1' })
      response.end()
    })
    const service = await startService({ limits: LIMITS, retryDelaysSeconds: [0.001] })
    const action = await governedAction(service.alice, receiver.url, { concurrency: 1 })
    await sendAll(action.endpoint, numbered(3))
    await eventually('the wait', async () => (await action.backlog()).notBefore !== null)
    await receiver.take(4)
    expect((arrivals[1] ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThanOrEqual(950)
    await action.isDone()
  })
})

test('a receiver is heeded for a day at most', async () => {
  await using receiver = await startReceiver({ status: 503, headers: { 'retry-after': '1795252500000' } })
  const { alice } = await startService({ limits: LIMITS })
  const action = await governedAction(alice, receiver.url, { concurrency: 1 })
  await sendAll(action.endpoint, numbered(1))
  const notBefore = await eventually('the wait', async () => (await action.backlog()).notBefore ?? undefined)
  const hours = (Date.parse(notBefore) - Date.now()) / 3_600_000
  expect(hours).toBeGreaterThan(23)
  expect(hours).toBeLessThanOrEqual(24)
})

describe('a pause', () => {
  test('stops first attempts and retries, outlives a restart, and what waited arrives once after the resume', async () => {
    await using receiver = await startReceiver({ status: 500 })
    const service = await startService({ limits: LIMITS, retryDelaysSeconds: Array(20).fill(0.3) })
    const action = await governedAction(service.alice, receiver.url)
    await sendAll(action.endpoint, [{ n: -1 }])
    await receiver.take(1)
    await action.pause()
    const before = receiver.received.length
    await sendAll(action.endpoint, numbered(40))
    await eventually('what waits', async () => (await action.backlog()).waiting === 41)
    await service.running.stop()
    expect(receiver.received.length).toBeLessThanOrEqual(before + 1)

    receiver.answer = { status: 200 }
    const restarted = await startService(sharedWith(service))
    expect(receiver.received.length).toBeLessThanOrEqual(before + 1)
    const { key, workspaceId } = service.alice
    const client = new Client(restarted.baseUrl, restarted.captureUrl, key, workspaceId)
    const again = new GovernedAction(client, action.endpoint, action.id)
    expect(await again.backlog()).toMatchObject({ waiting: 41, inFlight: 0, drainsAt: null })
    await again.resume(100)
    await again.isDone()
    const bodies = receiver.received.slice(before).map(({ body }) => body.toString())
    expect(bodies.filter((body) => body.includes('"k0"'))).toHaveLength(40)
    expect(new Set(bodies).size).toBe(41)
  })
})
