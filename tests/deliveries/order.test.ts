import { describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { DAY, MINUTE, sweepRetention } from '../retention/support.ts'
import type { Client } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { holdOpen } from '../support/heldWrites.ts'
import { isWaitingForLock } from '../support/lockWaits.ts'
import { type Received, startReceiver } from '../support/receiver.ts'
import { servicePerTest } from '../support/service.ts'
import { GovernedAction, governedAction, numbered, sendAll } from './governed.ts'

const startService = servicePerTest()
const LIMITS = { captureRatePerMinute: 1_000_000, apiRatePerMinute: 1_000_000 }

/** More than one look passes over. */
const STUCK = 1200

const Body = z.object({ n: z.int(), key: z.string().optional() })
const bodyOf = ({ body }: Received) => Body.parse(JSON.parse(body.toString()))

/** The numbers of the first success of each delivery, by key, in the order in which they arrived. */
function firstSuccesses(successes: readonly { n: number; key?: string | undefined }[]) {
  const seen = new Set<number>()
  const first = successes.filter(({ n }) => !seen.has(n) && seen.add(n))
  return Map.groupBy(first, ({ key }) => key ?? '')
}

describe('deliveries of one key', () => {
  test('go out one after the other, in the order of the requests, while a third of the attempts fail', async () => {
    const attempts = new Map<number, number>()
    const successes: { n: number; key?: string | undefined }[] = []
    const inFlight = new Map<string, number>()
    let overlaps = 0
    await using receiver = await startReceiver((request, response) => {
      const one = bodyOf(request)
      const key = one.key ?? ''
      const made = (attempts.get(one.n) ?? 0) + 1
      attempts.set(one.n, made)
      inFlight.set(key, (inFlight.get(key) ?? 0) + 1)
      if ((inFlight.get(key) ?? 0) > 1) overlaps += 1
      setTimeout(() => {
        inFlight.set(key, (inFlight.get(key) ?? 0) - 1)
        const fails = made === 1 && one.n % 3 === 0
        if (!fails) successes.push(one)
        response.writeHead(fails ? 500 : 200)
        response.end()
      }, 2)
    })
    const service = await startService({ limits: LIMITS, retryDelaysSeconds: Array(10).fill(0.01) })
    const action = await governedAction(service.alice, receiver.url, { order: { by: 'body.key' } })
    await sendAll(action.endpoint, numbered(120, 8))
    await action.isDone()
    const byKey = firstSuccesses(successes)
    expect(byKey.size).toBe(8)
    // Captures of one endpoint are stored in the order of their ids, which is not always that of their numbers.
    const rows = await service.db.selectFrom('requests').select(['id', 'body']).orderBy('id').execute()
    const stored = rows.map(({ body }) => Body.parse(JSON.parse(body.toString())))
    for (const [key, got] of byKey)
      expect(got.map(({ n }) => n)).toEqual(stored.filter((one) => one.key === key).map(({ n }) => n))
    expect(overlaps).toBe(0)
    expect(successes).toHaveLength(120)
  })

  test('wait for no other key, nor does a request without the key', async () => {
    const arrived: string[] = []
    await using receiver = await startReceiver((request, response) => {
      const { key } = bodyOf(request)
      arrived.push(key ?? 'none')
      // The receiver never answers one key.
      if (key !== 'stuck') response.end()
    })
    const service = await startService({ limits: LIMITS })
    const action = await governedAction(service.alice, receiver.url, {
      order: { by: 'body.key' },
      timeoutSeconds: 300,
    })
    const stuck = Array.from({ length: STUCK }, (_, n) => ({ n, key: 'stuck' }))
    await sendAll(action.endpoint, stuck, 100)
    await receiver.take(1)
    await sendAll(action.endpoint, [{ n: 3, key: 'a' }, { n: 4 }, { n: 5 }, { n: 6, key: 'b' }])
    await receiver.take(5)
    expect(arrived.toSorted()).toEqual(['a', 'b', 'none', 'none', 'stuck'])
    await eventually('the places behind the first', async () => {
      const { waiting, inFlight, keysWaiting } = await action.backlog()
      return waiting === STUCK - 1 && inFlight === 1 && keysWaiting === 1
    })
  })
})

const Incidents = z.looseObject({
  items: z.array(z.looseObject({ kind: z.string(), reason: z.string().nullable(), state: z.string() })),
})
const incidentsOf = async (client: Client, kind: string) => {
  const { items } = await client.expect(client.get('/api/v1/incidents'), Incidents)
  return items.filter((incident) => incident.kind === kind)
}

/** An action that holds keys, with the key `a` held by its first request. */
async function heldAction(client: Client, url: string) {
  const action = await governedAction(client, url, { order: { by: 'body.key', onDeadLetter: 'hold' } })
  await sendAll(action.endpoint, numbered(2, 1))
  const [held] = await eventually('a held key', async () => {
    const { keysHeld } = await action.backlog()
    return keysHeld.length > 0 && keysHeld
  })
  if (held === undefined) throw new Error('Nothing is held.')
  return { action, held }
}

describe('a dead letter', () => {
  test('lets its key go on, unless told otherwise', async () => {
    await using receiver = await startReceiver((request, response) => {
      response.writeHead(bodyOf(request).n === 0 ? 500 : 200)
      response.end()
    })
    const service = await startService({ limits: LIMITS, retryDelaysSeconds: [0.01] })
    const action = await governedAction(service.alice, receiver.url, { order: { by: 'endpoint' } })
    await sendAll(action.endpoint, [{ n: 0 }, { n: 1 }], 1)
    await action.isDone()
    expect(receiver.received.map((one) => bodyOf(one).n)).toEqual([0, 0, 1])
  })

  test('holds its key until a skip', async () => {
    await using receiver = await startReceiver((request, response) => {
      response.writeHead(bodyOf(request).n === 0 ? 500 : 200)
      response.end()
    })
    const service = await startService({ limits: LIMITS, retryDelaysSeconds: [0.01] })
    const { alice } = service
    const action = await governedAction(alice, receiver.url, {
      order: { by: 'body.key', onDeadLetter: 'hold' },
    })
    await sendAll(action.endpoint, [...numbered(2, 1), { n: 7, key: 'other' }], 1)
    await eventually('a held key', async () => (await action.backlog()).keysHeld.length > 0)
    const { keysHeld, waiting } = await action.backlog()
    const [held] = keysHeld
    expect([held?.key, waiting]).toEqual(['k0', 1])
    expect(await incidentsOf(alice, 'delivery.held')).toMatchObject([
      { state: 'open', reason: `request ${held?.requestId} holds its key` },
    ])
    // Later deliveries of the key wait, too, and other keys continue.
    await sendAll(action.endpoint, [
      { n: 2, key: 'k0' },
      { n: 8, key: 'other' },
    ])
    await receiver.take(4)
    const skip = () => alice.post(action.endpoint.at(`/deliveries/${held?.attemptId}/skip`))
    expect(await skip()).toMatchObject({ status: 200, body: { requestId: held?.requestId, key: 'k0' } })
    await action.isDone()
    expect(receiver.received.map((one) => bodyOf(one).n).filter((n) => n < 3)).toEqual([0, 0, 1, 2])
    expect(await incidentsOf(alice, 'delivery.held')).toMatchObject([{ state: 'closed' }])
    expect((await skip()).status).toBe(400)
  })

  test('holds its key until a replay succeeds, by one call or in bulk', async () => {
    await using receiver = await startReceiver({ status: 500 })
    const service = await startService({ limits: LIMITS, retryDelaysSeconds: [0.01] })
    for (const replay of ['one', 'bulk']) {
      receiver.answer = (request, response) => {
        response.writeHead(bodyOf(request).n === 0 ? 500 : 200)
        response.end()
      }
      const { action, held } = await heldAction(service.alice, receiver.url)
      receiver.answer = { status: 200 }
      const from = receiver.received.length
      if (replay === 'one') await service.alice.post(action.endpoint.at(`/requests/${held.requestId}/replay`))
      else {
        const body = { requestIds: [held.requestId] }
        await service.alice.post(action.endpoint.at('/requests/bulk-replay'), body)
      }
      await receiver.take(from + 2)
      await action.isDone()
      expect(receiver.received.slice(from).map((one) => bodyOf(one).n)).toEqual([0, 1])
      expect((await action.backlog()).keysHeld).toEqual([])
    }
  })

  test('holds its key no longer once the order says so', async () => {
    await using receiver = await startReceiver((request, response) => {
      response.writeHead(bodyOf(request).n === 0 ? 500 : 200)
      response.end()
    })
    const service = await startService({ limits: LIMITS, retryDelaysSeconds: [0.01] })
    const { action } = await heldAction(service.alice, receiver.url)
    await action.put({ delivery: { order: { by: 'body.key', onDeadLetter: 'continue' } } })
    await action.isDone()
    expect(receiver.received.map((one) => bodyOf(one).n)).toEqual([0, 0, 1])
  })
})

describe('a key whose dead letter goes with its request', () => {
  /** A receiver that refuses the numbers of a set. */
  const refusing = (refused: ReadonlySet<number>) =>
    startReceiver((request, response) => {
      response.writeHead(refused.has(bodyOf(request).n) ? 500 : 200)
      response.end()
    })

  test('is free after the recycle bin, and the next hold is told of again', async () => {
    await using receiver = await refusing(new Set([0, 2]))
    const service = await startService({ limits: LIMITS, retryDelaysSeconds: [0.01] })
    const { alice } = service
    const { action, held } = await heldAction(alice, receiver.url)
    await alice.delete(action.endpoint.at(`/requests/${held.requestId}`))
    await sweepRetention(service)
    expect(await incidentsOf(alice, 'delivery.held')).toMatchObject([{ state: 'open' }])
    await service.clock.advance(7 * DAY + MINUTE)
    await sweepRetention(service)
    await action.isDone()
    expect(await incidentsOf(alice, 'delivery.held')).toMatchObject([{ state: 'closed' }])
    await sendAll(action.endpoint, [{ n: 2, key: 'k0' }])
    await eventually('the next hold', async () => (await action.backlog()).keysHeld.length > 0)
    const states = (await incidentsOf(alice, 'delivery.held')).map(({ state }) => state)
    expect(states.toSorted()).toEqual(['closed', 'open'])
  })

  test('is freed by a skip from the recycle bin', async () => {
    await using receiver = await refusing(new Set([0]))
    const service = await startService({ limits: LIMITS, retryDelaysSeconds: [0.01] })
    const { alice } = service
    const { action, held } = await heldAction(alice, receiver.url)
    await alice.delete(action.endpoint.at(`/requests/${held.requestId}`))
    const at = action.endpoint.at(`/deliveries/${held.attemptId}`)
    expect((await alice.post(`${at}/skip`)).body).toMatchObject({ requestId: held.requestId, key: 'k0' })
    await action.isDone()
    expect(receiver.received.map((one) => bodyOf(one).n)).toEqual([0, 0, 1])
    expect((await action.backlog()).keysHeld).toEqual([])
    // Everything else about the attempt stays in the bin.
    expect((await alice.get(at)).status).toBe(404)
  })
})

describe('the sweep of a request that holds a key', () => {
  test('waits for the counters before it takes the incident, as erasures and evictions do', async () => {
    await using receiver = await startReceiver({ status: 500 })
    const service = await startService({ limits: { ...LIMITS, retentionDays: 1 }, retryDelaysSeconds: [] })
    const { alice, db } = service
    const { action } = await heldAction(alice, receiver.url)
    await service.clock.advance(DAY + MINUTE)
    const other = holdOpen(db, (trx) =>
      sql`select from endpoint_counters where endpoint_id = ${action.endpoint.id} for update`.execute(trx),
    )
    await other.isOpen
    const swept = sweepRetention(service)
    await eventually('the sweep waits', () => isWaitingForLock(db))
    const free = sql`select from incidents where kind = 'delivery.held' for update skip locked`.execute(db)
    expect((await free).rows).toHaveLength(1)
    await other.release()
    await swept
    expect(await incidentsOf(alice, 'delivery.held')).toMatchObject([{ state: 'closed' }])
  })
})

describe('dead letters at the cap of stored requests', () => {
  test('go with the requests that captures evict, and free their keys', async () => {
    await using receiver = await startReceiver((request, response) => {
      response.writeHead(bodyOf(request).n === 2 ? 200 : 500)
      response.end()
    })
    const service = await startService({
      limits: { ...LIMITS, storedRequestsMax: 2 },
      retryDelaysSeconds: [],
    })
    const { alice, db } = service
    const action = await governedAction(alice, receiver.url, {
      order: { by: 'body.key', onDeadLetter: 'hold' },
    })
    const deadLetters = async () => {
      const rows = await db
        .selectFrom('deliveries')
        .where('finishedAt', 'is not', null)
        .select('id')
        .execute()
      return rows.length
    }
    // The first is binned, and so kept. The two last of the others are stored.
    await sendAll(action.endpoint, [{ n: -1 }])
    await eventually('the first dead letter', async () => (await deadLetters()) === 1)
    const [binned] = await action.endpoint.requests()
    await alice.delete(action.endpoint.at(`/requests/${binned?.id}`))
    await sendAll(action.endpoint, [{ n: 0, key: 'k0' }])
    await eventually('the held key', async () => (await action.backlog()).keysHeld.length > 0)
    await sendAll(action.endpoint, [{ n: 1 }], 1)
    await eventually('what is dead', async () => (await deadLetters()) === 3)
    await sendAll(action.endpoint, [{ n: 2, key: 'k0' }, { n: 3 }], 1)
    await eventually('all of them dead', async () => (await deadLetters()) === 4)
    expect((await action.backlog()).waiting).toBe(1)

    await sweepRetention(service)
    await action.isDone()
    expect(receiver.received.map((one) => bodyOf(one).n)).toEqual([-1, 0, 1, 3, 2])
    const left = await deadLetters()
    expect(left).toBe(2)
    expect(await incidentsOf(alice, 'delivery.held')).toMatchObject([{ state: 'closed' }])
    expect((await alice.get('/api/v1/recycle-bin')).body).toMatchObject({ totalCount: 1 })
    const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text()
    expect(metrics).toMatch(/creel_swept_rows_total\{sweep="deadLetters"\} [1-9]/)
  })
})

describe('an action that is governed no more', () => {
  test('sends what waited in its order', async () => {
    await using receiver = await startReceiver()
    const service = await startService({ limits: LIMITS })
    const action = await governedAction(service.alice, receiver.url, { order: { by: 'endpoint' } })
    await action.pause()
    await sendAll(action.endpoint, numbered(20), 1)
    await action.put({ delivery: null })
    await action.resume()
    await action.isDone()
    expect(receiver.received.map((one) => bodyOf(one).n)).toEqual(numbered(20).map(({ n }) => n))
    // And as any other from then on.
    await sendAll(action.endpoint, [{ n: 99 }])
    await receiver.take(21)
    expect(new GovernedAction(service.alice, action.endpoint, action.id).at()).toBe(action.at())
  })
})
