import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import type { Client } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { startReceiver } from '../support/receiver.ts'
import { servicePerTest } from '../support/service.ts'
import { governedAction, numbered, sendAll } from './governed.ts'

const startService = servicePerTest()
const LIMITS = { captureRatePerMinute: 1_000_000, apiRatePerMinute: 1_000_000 }
const FAILURES = 4
const CONCURRENCY = 2
/** The probe that succeeds, and starts of the first second after it. */
const PROBE = 1
const DRAINED = 5
/** Differences between the clocks of PostgreSQL and of this process. */
const CLOCK_MS = 20

const Incidents = z.looseObject({ items: z.array(z.looseObject({ kind: z.string(), state: z.string() })) })
const incidents = async (client: Client, kind: string) => {
  const { items } = await client.expect(client.get('/api/v1/incidents'), Incidents)
  return items.filter((incident) => incident.kind === kind).map(({ state }) => state)
}

describe('a breaker', () => {
  test('lets only probes out while the receiver fails, and drains gently after its first success', async () => {
    const arrivals: number[] = []
    let isWell = false
    await using receiver = await startReceiver((_request, response) => {
      arrivals.push(Date.now())
      response.writeHead(isWell ? 200 : 500)
      response.end()
    })
    const service = await startService({ limits: LIMITS, retryDelaysSeconds: [0.01, 0.01, 0.01, 30] })
    const { alice } = service
    const action = await governedAction(alice, receiver.url, {
      concurrency: CONCURRENCY,
      breaker: { failures: FAILURES, windowSeconds: 60, probeEverySeconds: 1 },
    })
    await sendAll(action.endpoint, numbered(15))
    const { breaker } = await eventually('the open breaker', async () => {
      const backlog = await action.backlog()
      return backlog.breaker.state !== 'closed' && backlog
    })
    const openedAt = Date.parse(breaker.openedAt ?? '')
    expect(breaker).toMatchObject({ openedAt: expect.any(String), nextProbeAt: expect.any(String) })
    expect(await incidents(alice, 'breaker.opened')).toEqual(['open'])
    // The attempts in flight when it opened, and two probes.
    const before = FAILURES + CONCURRENCY - 1
    await receiver.take(before + 2)
    // One each second from the opening. A busy machine makes them later, never earlier.
    for (const [index, at] of arrivals.slice(before).entries())
      expect(at - openedAt).toBeGreaterThanOrEqual(1000 * (index + 1) - CLOCK_MS)
    const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text()
    expect(metrics.split('\n')).toContain('creel_breakers_open 1')

    const failed = arrivals.length
    isWell = true
    await eventually('the closed breaker', async () => (await action.backlog()).breaker.state === 'closed')
    const { closedAt } = await service.db
      .selectFrom('actionFlows')
      .select('closedAt')
      .executeTakeFirstOrThrow()
    await receiver.take(failed + PROBE + DRAINED)
    // Five a second at first.
    for (const [index, at] of arrivals.slice(failed + PROBE, failed + PROBE + DRAINED).entries())
      expect(at - (closedAt?.getTime() ?? 0)).toBeGreaterThanOrEqual(200 * index - CLOCK_MS)
    expect(await incidents(alice, 'breaker.opened')).toEqual(['closed'])
    await eventually('the end of what had no attempt', async () => {
      const rows = await service.db.selectFrom('deliveries').select('attemptCount').execute()
      return rows.every(({ attemptCount }) => attemptCount > 0)
    })
  })
})

describe('deliveries that wait for long', () => {
  test('open an incident, which closes when they have gone out', async () => {
    await using receiver = await startReceiver()
    const service = await startService({ limits: LIMITS })
    const { alice } = service
    const action = await governedAction(alice, receiver.url, { backlogAlertSeconds: 60 })
    await action.pause()
    await sendAll(action.endpoint, numbered(1))
    await service.runJob('deliveries.backlog', {})
    expect(await incidents(alice, 'delivery.backlog')).toEqual([])
    await service.clock.advance(61_000)
    await service.runJob('deliveries.backlog', {})
    await service.runJob('deliveries.backlog', {})
    expect(await incidents(alice, 'delivery.backlog')).toEqual(['open'])
    await action.resume()
    await action.isDone()
    await service.runJob('deliveries.backlog', {})
    expect(await incidents(alice, 'delivery.backlog')).toEqual(['closed'])
  })

  test('are counted up to a bound', async () => {
    const service = await startService({ limits: LIMITS, parts: ['gateway'] })
    const action = await governedAction(service.alice, 'http://127.0.0.1:9/')
    await action.pause()
    await sendAll(action.endpoint, numbered(1))
    await sql`
      insert into deliveries (workspace_id, endpoint_id, request_id, action_id, action_name, kind, trigger, created_at,
        next_attempt_at, flow_state, flow_due_at)
      select workspace_id, endpoint_id, request_id, action_id, action_name, kind, trigger, created_at,
        next_attempt_at, flow_state, flow_due_at
      from deliveries, generate_series(1, 100001)`.execute(service.db)
    expect(await action.backlog()).toMatchObject({ waiting: 100_000 })
  })

  test('are told of when retention deletes them before they go out', async () => {
    const service = await startService({ limits: { ...LIMITS, retentionDays: 2 } })
    const action = await governedAction(service.alice, 'http://127.0.0.1:9/')
    await action.pause()
    await sendAll(action.endpoint, numbered(3))
    expect(await action.backlog()).toMatchObject({ waiting: 3, expiring: 0 })
    await service.clock.advance(25 * 3_600_000)
    expect(await action.backlog()).toMatchObject({ waiting: 3, expiring: 3 })
  })
})
