import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ServerResponse } from 'node:http'
import { sql } from 'kysely'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { holdOpen } from '../support/heldWrites.ts'
import { countLockWaits } from '../support/lockWaits.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'
import { type GovernedAction, governedAction, numbered, sendAll } from './governed.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({
    limits: { captureRatePerMinute: 1_000_000, apiRatePerMinute: 1_000_000 },
    retryDelaysSeconds: [],
  })
})

/** A receiver that answers its requests when the test says so. */
async function startSlow() {
  const waiting: ServerResponse[] = []
  const receiver = await startReceiver((_request, response) => {
    waiting.push(response)
  })
  afterAll(() => receiver[Symbol.asyncDispose]())
  const answer = (status: number, headers = {}) => {
    for (const response of waiting.splice(0)) {
      response.writeHead(status, headers)
      response.end()
    }
  }
  return { receiver, answer }
}

const Incidents = z.looseObject({
  items: z.array(z.looseObject({ kind: z.string(), state: z.string(), subjectId: z.string() })),
})

/** Kinds of the open incidents of an action. */
async function openIncidents({ client, id }: GovernedAction): Promise<string[]> {
  const { items } = await client.expect(client.get('/api/v1/incidents'), Incidents)
  return items.filter(({ state, subjectId }) => state === 'open' && subjectId === id).map(({ kind }) => kind)
}

/** Number of attempts of the action that are under way. */
async function pending({ id }: GovernedAction): Promise<number> {
  const rows = service.db
    .selectFrom('deliveryAttempts')
    .where('actionId', '=', id)
    .where('state', '=', 'Pending')
  return (await rows.select('id').execute()).length
}

/** Resolves when `count` attempts of the action are recorded. */
async function recorded({ endpoint }: GovernedAction, count = 1): Promise<void> {
  await eventually('the records of attempts', async () => {
    const rows = await service.db
      .selectFrom('deliveryAttempts')
      .where('endpointId', '=', endpoint.id)
      .where('state', '<>', 'Pending')
      .select('id')
      .execute()
    return rows.length >= count
  })
}

describe('while an attempt is under way', () => {
  /** An action with an attempt that waits for its answer. */
  async function attempted(delivery?: object) {
    const { receiver, answer } = await startSlow()
    const action = await governedAction(service.alice, receiver.url, delivery)
    await sendAll(action.endpoint, numbered(1))
    await receiver.take(1)
    return { action, answer }
  }

  test('the deletion of its action leaves no incident that would never close', async () => {
    const { action, answer } = await attempted()
    await action.client.delete(action.at())
    answer(500)
    await recorded(action)
    expect(await openIncidents(action)).toEqual([])
  })

  test('the end of its breaker leaves none open', async () => {
    const { action, answer } = await attempted({
      breaker: { failures: 1, windowSeconds: 60, probeEverySeconds: 1 },
    })
    await action.put({ delivery: { concurrency: 1 } })
    answer(500)
    await recorded(action)
    expect((await action.backlog()).breaker.state).toBe('closed')
    expect(await openIncidents(action)).toEqual(['delivery.parked'])
  })

  test('its deletion leaves no incident of a replay that fails meanwhile', async () => {
    const { action, answer } = await attempted({
      breaker: { failures: 2, windowSeconds: 60, probeEverySeconds: 1 },
    })
    answer(500)
    await recorded(action)
    const [request] = await action.endpoint.requests()
    const replayed = action.client.post(action.endpoint.at(`/requests/${request?.id}/replay`))
    await eventually('the replay', async () => (await pending(action)) === 1)
    const kept = holdOpen(service.db, (trx) =>
      trx.selectFrom('actions').where('id', '=', action.id).select('id').forKeyShare().execute(),
    )
    await kept.isOpen
    const deleted = action.client.delete(action.at())
    await eventually('the deletion waits', async () => (await countLockWaits(service.db)) >= 1)
    answer(500)
    await replayed
    await kept.release()
    expect((await deleted).status).toBe(204)
    expect(await openIncidents(action)).toEqual([])
  })

  test('a change to hold is told of by its dead letter', async () => {
    const { action, answer } = await attempted({ order: { by: 'body.key' } })
    await action.put({ delivery: { order: { by: 'body.key', onDeadLetter: 'hold' } } })
    answer(500)
    await recorded(action)
    expect((await action.backlog()).keysHeld).toMatchObject([{ key: 'k0' }])
    expect((await openIncidents(action)).toSorted()).toEqual(['delivery.held', 'delivery.parked'])
  })

  test('a change of its URL ends what the old receiver still asks for', async () => {
    const { action, answer } = await attempted({ concurrency: 1 })
    const other = await startSlow()
    await action.put({ url: other.receiver.url })
    answer(503, { 'retry-after': '3600' })
    await recorded(action)
    expect(await action.backlog()).toMatchObject({ notBefore: null })
  })
})

describe('the incident of held keys', () => {
  const HOLD = { order: { by: 'body.key', onDeadLetter: 'hold' }, gone: 'pause' }

  /** An action that holds the keys `k0`, `k1` and so on. */
  async function heldAction(keys: number) {
    const { receiver, answer } = await startSlow()
    const action = await governedAction(service.alice, receiver.url, HOLD)
    await sendAll(action.endpoint, numbered(keys, keys))
    await receiver.take(keys)
    answer(500)
    await recorded(action, keys)
    const { keysHeld } = await action.backlog()
    const skips = keysHeld.map(
      ({ attemptId }) =>
        () =>
          action.client.post(action.endpoint.at(`/deliveries/${attemptId}/skip`)),
    )
    return { action, receiver, answer, skips }
  }
  const waits = (count: number) =>
    eventually(`${count} that wait`, async () => (await countLockWaits(service.db)) === count)

  test('closes when its last keys are skipped at once', async () => {
    const { action, skips } = await heldAction(2)
    // Neither skip ends before both have come as far as they can.
    const audit = holdOpen(service.db, (trx) => sql`lock table audit_entries in share mode`.execute(trx))
    await audit.isOpen
    const skipped = Promise.all(skips.map((skip) => skip()))
    await waits(2)
    await audit.release()
    expect((await skipped).map(({ status }) => status)).toEqual([200, 200])
    expect(await openIncidents(action)).toEqual(['delivery.parked'])
  })

  test('stays open for a key that a dead letter holds while the last one is skipped', async () => {
    const { action, receiver, answer, skips } = await heldAction(1)
    await sendAll(action.endpoint, [{ n: 1, key: 'k1' }])
    await receiver.take(2)
    // The record of the dead letter ends with the pause of its action.
    const paused = holdOpen(service.db, (trx) =>
      trx.selectFrom('actions').where('id', '=', action.id).select('id').forShare().execute(),
    )
    await paused.isOpen
    answer(410)
    await waits(1)
    const skipped = Promise.all(skips.map((skip) => skip()))
    await waits(2)
    await paused.release()
    expect((await skipped).map(({ status }) => status)).toEqual([200])
    await recorded(action, 2)
    expect((await action.backlog()).keysHeld).toMatchObject([{ key: 'k1' }])
    expect((await openIncidents(action)).toSorted()).toEqual(['delivery.held', 'delivery.parked'])
  })

  test('does not open for a dead letter that is recorded while the order ceases to hold', async () => {
    const { receiver, answer } = await startSlow()
    const action = await governedAction(service.alice, receiver.url, HOLD)
    await sendAll(action.endpoint, [{ n: 0, key: 'k0' }], 1)
    await receiver.take(1)
    // The record is half written, by the order that holds.
    const alerts = holdOpen(service.db, (trx) => sql`lock table alerts in share mode`.execute(trx))
    await alerts.isOpen
    answer(500)
    await waits(1)
    await action.put({ delivery: { order: { by: 'body.key' } } })
    await alerts.release()
    await recorded(action)
    expect((await action.backlog()).keysHeld).toEqual([])
    expect(await openIncidents(action)).toEqual(['delivery.parked'])
  })
})

describe('a delay that a receiver asked for ends', () => {
  for (const [by, change] of [
    ['a change of the URL', (action, url) => action.put({ url })],
    ['a resume', (action) => action.resume()],
    ['a policy without bounds', (action) => action.put({ delivery: { timeoutSeconds: 30 } })],
  ] satisfies [string, (action: GovernedAction, url: string) => Promise<unknown>][])
    test(`by ${by}`, async () => {
      await using asking = await startReceiver({ status: 503, headers: { 'retry-after': '3600' } })
      await using other = await startReceiver()
      const action = await governedAction(service.alice, asking.url, { concurrency: 1 })
      await sendAll(action.endpoint, numbered(1))
      await eventually('the delay', async () => (await action.backlog()).notBefore !== null)
      await sendAll(action.endpoint, numbered(1))
      await action.put({ name: 'Renamed' })
      expect(await action.backlog()).toMatchObject({ waiting: 1, notBefore: expect.any(String) })
      asking.answer = { status: 200 }
      await change(action, other.url)
      await action.isDone()
      expect(asking.received.length + other.received.length).toBe(2)
    })
})

describe('a delivery that is queued while its action is being deleted', () => {
  const Request = z.looseObject({ state: z.string() })

  /** Deletes a paused action while a request is captured, and waits for the end of its delivery. */
  async function overtaken() {
    const action = await governedAction(service.alice, 'http://127.0.0.1:9/')
    await action.pause()
    const kept = holdOpen(service.db, (trx) =>
      trx.selectFrom('actions').where('id', '=', action.id).select('id').forKeyShare().execute(),
    )
    await kept.isOpen
    const deleted = action.client.delete(action.at())
    await eventually('the deletion waits', async () => (await countLockWaits(service.db)) === 1)
    const { id } = await action.endpoint.capture()
    await kept.release()
    expect((await deleted).status).toBe(204)
    const state = async () =>
      (await action.client.expect(action.client.get(action.endpoint.at(`/requests/${id}`)), Request)).state
    await eventually('its end', async () => (await state()) === 'NotAttempted')
    return { action, state }
  }

  test('is dropped with it', async () => {
    await overtaken()
  })

  test('is dropped by the sweep if nothing else looks at its lane', async () => {
    const { action, state } = await overtaken()
    // As an earlier version has left it.
    const left =
      await sql`insert into deliveries (workspace_id, endpoint_id, request_id, action_id, action_name, kind, trigger,
        created_at, next_attempt_at, flow_state, flow_due_at)
      select e.workspace_id, r.endpoint_id, r.id, ${action.id}::uuid, 'gone', 'forward', 'capture', now(), now(), 'waiting',
        now() + interval '1 hour'
      from requests r join endpoints e on e.id = r.endpoint_id where e.id = ${action.endpoint.id}::uuid`.execute(
        service.db,
      )
    // A look of before may take it at once.
    expect(left.numAffectedRows).toBe(1n)
    await service.runJob('lanes.sweep', {})
    await eventually('its end', async () => (await state()) === 'NotAttempted')
  })
})
