import { beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { captureBatches } from '@creel/core/capture'
import { lockCounters } from '@creel/core/requests'
import { sweepBytes } from '@creel/core/retention'
import fc from 'fast-check'
import { sql } from 'kysely'
import { z } from 'zod'
import { expectCountersEqualRows, sweepEndpoints, sweepRetention } from '../retention/support.ts'
import type { Client, TestEndpoint } from '../support/client.ts'
import { openEvents } from '../support/eventReader.ts'
import { eventually } from '../support/eventually.ts'
import { isWaitingForLock } from '../support/lockWaits.ts'
import { wrongParts } from '../support/problems.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestService } from '../support/service.ts'

/** Endpoints that take an event once: captures that count as the same, and the treatment of those after the first. */

let service: TestService
let alice: Client

beforeAll(async () => {
  service = await startService({
    limits: { apiRatePerMinute: 100_000, endpointsMax: 1_000, watchdogsMax: 100 },
    planLimits: { solo: { retentionDays: 3 } },
  })
  alice = service.alice
})

type Then = 'mark' | 'skip' | 'discard'
const once = (then: Then, more: object = {}) => ({
  provider: 'stripe',
  dedupe: { by: 'event', windowSeconds: 600, then, ...more },
})
const event = (id: unknown, more: object = {}) => ({
  body: JSON.stringify({ id, type: 'order.paid', ...more }),
})
const sendAll = async (endpoint: TestEndpoint, ids: readonly unknown[]) => {
  for (const id of ids) expect((await endpoint.send(event(id))).status).toBe(200)
}

const Row = z.looseObject({ id: z.int(), eventId: z.string().nullable(), duplicateOf: z.int().nullable() })
const rowsOf = async (endpoint: TestEndpoint, query?: string) =>
  z.array(Row).parse((await endpoint.requests(query)).toReversed())

/** Index of the first request of each row, oldest first; null for a first. */
const firstsOf = async (endpoint: TestEndpoint) => {
  const rows = await rowsOf(endpoint)
  return rows.map(({ duplicateOf }) =>
    duplicateOf === null ? null : rows.findIndex(({ id }) => id === duplicateOf),
  )
}

const Stats = z.looseObject({
  storage: z.looseObject({ storedRequestCount: z.int() }),
  traffic: z.looseObject({
    discardedCount: z.int(),
    lastDiscardedAt: z.string().nullable(),
    lastRequestAt: z.string().nullable(),
  }),
})
const statsOf = (endpoint: TestEndpoint) => alice.expect(alice.get(endpoint.at('/stats')), Stats)

const claimsOf = async ({ id }: TestEndpoint) => {
  const { rows } = await sql<{ claims: number; counted: number }>`
    select (select count(*)::int from event_claims where endpoint_id = ${id}) as claims, claim_count::int as counted
    from endpoint_counters where endpoint_id = ${id}`.execute(service.db)
  expect(rows[0]?.counted).toBe(rows[0]?.claims ?? 0)
  return rows[0]?.claims
}

async function waysOf(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const counts = async () =>
    (await captureBatches.get()).values.map(({ labels, value }) => [String(labels.way), value])
  const before = new Map(Object.entries(Object.fromEntries(await counts())))
  await work()
  return Object.fromEntries(
    (await counts()).map(([way, count]) => [way, Number(count) - Number(before.get(String(way)))]),
  )
}

describe('the setting', () => {
  test('is read, kept, changed and cleared', async () => {
    const dedupe = { by: 'body.order.id', windowSeconds: 60, then: 'discard' }
    const endpoint = await alice.endpoint({ dedupe })
    const settings = async () =>
      z.looseObject({ dedupe: z.unknown() }).parse((await alice.get(endpoint.at(''))).body)
    expect((await settings()).dedupe).toEqual(dedupe)
    expect((await alice.patch(endpoint.at(''), { name: 'renamed' })).body).toMatchObject({ dedupe })
    const marks = { ...dedupe, then: 'mark' }
    expect((await alice.patch(endpoint.at(''), { dedupe: marks })).body).toMatchObject({ dedupe: marks })
    expect((await alice.patch(endpoint.at(''), { dedupe: null })).body).toMatchObject({ dedupe: null })
  })

  test.each([
    [{ windowSeconds: 0 }, '#/dedupe/windowSeconds out_of_range'],
    [{ windowSeconds: 2_592_001 }, '#/dedupe/windowSeconds out_of_range'],
    [{ windowSeconds: 1.5 }, '#/dedupe/windowSeconds type'],
    [{ by: 'body[' }, '#/dedupe/by bad_path'],
    [{ by: 'label' }, '#/dedupe/by bad_path'],
    [{ by: 'body.items[*].id' }, '#/dedupe/by bad_path'],
    [{ then: 'drop' }, '#/dedupe/then unknown_value'],
  ])('%j is refused', async (wrong, part) => {
    const dedupe = { by: 'event', windowSeconds: 60, then: 'mark', ...wrong }
    expect(wrongParts(await alice.post('/api/v1/endpoints', { dedupe }))).toEqual([part])
  })

  test('a window beyond the retention of the plan is refused', async () => {
    const solo = await service.newClient('solo')
    const dedupe = (windowSeconds: number) => ({ dedupe: { by: 'event', windowSeconds, then: 'skip' } })
    const endpoint = await solo.endpoint(dedupe(3 * 86_400))
    const tooLong = ['#/dedupe/windowSeconds out_of_range']
    expect(wrongParts(await solo.patch(endpoint.at(''), dedupe(3 * 86_400 + 1)))).toEqual(tooLong)
    expect(wrongParts(await solo.post('/api/v1/endpoints', dedupe(3 * 86_400 + 1)))).toEqual(tooLong)
  })
})

describe('an event that comes again', () => {
  test('is marked with the first, and filters and streams know it', async () => {
    const endpoint = await alice.endpoint(once('mark'))
    const first = await endpoint.capture(event('evt_1'))
    await using stream = await openEvents(alice, endpoint.at(`/requests/stream?afterId=${first.id}`))
    await sendAll(endpoint, ['evt_2', 'evt_1', 'evt_1'])
    expect(await firstsOf(endpoint)).toEqual([null, null, 0, 0])
    expect((await rowsOf(endpoint)).map(({ state }) => state)).toEqual(Array(4).fill('NotAttempted'))
    expect((await rowsOf(endpoint, 'duplicate=true')).map(({ eventId }) => eventId)).toEqual([
      'evt_1',
      'evt_1',
    ])
    expect((await rowsOf(endpoint, 'duplicate=false')).map(({ eventId }) => eventId)).toEqual([
      'evt_1',
      'evt_2',
    ])
    const seen: unknown[] = []
    const Arrived = z.looseObject({ data: z.looseObject({ requests: z.array(Row) }) })
    while (seen.length < 3)
      seen.push(...Arrived.parse(await stream.next()).data.requests.map((row) => row.duplicateOf))
    expect(seen).toEqual([null, first.id, first.id])
    const newest = (await rowsOf(endpoint)).at(-1)
    expect((await alice.get(endpoint.at(`/requests/${newest?.id}`))).body).toMatchObject({
      duplicateOf: first.id,
    })
    const { text } = await alice.get(endpoint.at('/requests/export'))
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => Row.parse(JSON.parse(line)).duplicateOf),
    ).toEqual([null, null, first.id, first.id])
    await expectCountersEqualRows(service, endpoint.id)
  })

  test('is skipped: stored, and no action runs', async () => {
    await using receiver = await startReceiver()
    const endpoint = await alice.endpoint(once('skip'))
    await alice.post(endpoint.at('/actions'), { kind: 'forward', url: receiver.url })
    await Promise.all([1, 2, 3].map(() => sendAll(endpoint, ['evt_1', 'evt_2', 'evt_1'])))
    const settled = await eventually('the end of the deliveries', async () => {
      const rows = await rowsOf(endpoint)
      return rows.every(({ state }) => state !== 'Pending') && rows
    })
    const states = settled.map(({ state, duplicateOf }) => [duplicateOf === null, state])
    expect(states.filter(([isFirst]) => isFirst)).toEqual([
      [true, 'Succeeded'],
      [true, 'Succeeded'],
    ])
    expect(states.filter(([isFirst]) => isFirst !== true)).toEqual(Array(7).fill([false, 'Skipped']))
    expect(receiver.received.length).toBe(2)
    await expectCountersEqualRows(service, endpoint.id)
    expect(await claimsOf(endpoint)).toBe(2)
  })

  test('is discarded: answered as the first, counted, and not stored', async () => {
    const response = { responseStatusCode: 202, responseBody: 'thanks', responseContentType: 'text/plain' }
    const endpoint = await alice.endpoint({ ...once('discard'), ...response })
    const watchdog = await alice.expect(
      alice.post('/api/v1/watchdogs', { endpointId: endpoint.id, expectedIntervalSeconds: 3600 }),
      z.looseObject({ id: z.string() }),
    )
    const matchedAt = async () =>
      z
        .looseObject({ lastMatchedAt: z.string() })
        .parse((await alice.get(`/api/v1/watchdogs/${watchdog.id}`)).body).lastMatchedAt
    const answers: unknown[] = []
    const send = async () => {
      const answer = await endpoint.send(event('evt_1'))
      answers.push([answer.status, await answer.text(), answer.headers.get('content-type')])
    }
    await send()
    const firstMatch = await matchedAt()
    await service.clock.advance(5_000)
    await Promise.all([send(), send(), send()])
    expect(answers).toEqual(Array(4).fill([202, 'thanks', 'text/plain']))
    expect((await rowsOf(endpoint)).length).toBe(1)
    const { storage, traffic } = await statsOf(endpoint)
    expect([storage.storedRequestCount, traffic.discardedCount]).toEqual([1, 3])
    expect(traffic.lastRequestAt).not.toBe((await rowsOf(endpoint))[0]?.receivedAt ?? '')
    // A duplicate is a sign of life of its sender.
    expect(await matchedAt()).not.toBe(firstMatch)
    await expectCountersEqualRows(service, endpoint.id)
    const traffics = z.looseObject({ buckets: z.array(z.looseObject({ discardedCount: z.int() })) })
    const counted = await eventually('the minute of the discarded', async () => {
      const { buckets } = await alice.expect(alice.get(endpoint.at('/traffic')), traffics)
      return buckets.reduce((sum, { discardedCount }) => sum + discardedCount, 0) || undefined
    })
    expect(counted).toBe(3)
    const { text } = await fetch(`${service.baseUrl}/metrics`).then(async (answer) => ({
      text: await answer.text(),
    }))
    expect(text).toMatch(/creel_captures_total\{outcome="discarded"\} [1-9]/)
  })

  test('within one batch counts as if it had come later', async () => {
    const endpoint = await alice.endpoint(once('discard'))
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) => endpoint.send(event(`evt_${n % 7}`))),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(60).fill(200))
    expect((await rowsOf(endpoint)).length).toBe(7)
    expect((await statsOf(endpoint)).traffic.discardedCount).toBe(53)
    expect(await claimsOf(endpoint)).toBe(7)
  })

  test('is a new one where its id is read elsewhere, on another endpoint, or by a forged copy', async () => {
    const signingSecret = 'whsec_of_the_suite'
    const endpoint = await alice.endpoint({ ...once('discard'), signingSecret })
    const other = await alice.endpoint(once('discard'))
    const { body } = event('evt_1')
    const signed = () => {
      const at = Math.floor(service.clock.now().getTime() / 1000)
      const digest = createHmac('sha256', signingSecret).update(`${at}.${body}`).digest('hex')
      return endpoint.send({ body, headers: { 'Stripe-Signature': `t=${at},v1=${digest}` } })
    }
    await endpoint.send({ body, headers: { 'Stripe-Signature': 't=1,v1=00' } })
    await signed()
    await signed()
    await endpoint.send({ body })
    await other.send({ body })
    const verdicts = (await rowsOf(endpoint)).map(({ verification }) => verification)
    expect(verdicts).toMatchObject([{ verdict: 'failed' }, { verdict: 'verified' }])
    expect((await rowsOf(other)).length).toBe(1)
    await alice.patch(endpoint.at(''), { dedupe: { by: 'body.id', windowSeconds: 600, then: 'discard' } })
    await signed()
    expect((await rowsOf(endpoint)).length).toBe(3)
  })

  test.each([
    ['no id', { body: '{}' }],
    ['null', event(null)],
    ['a list', event(['evt_1'])],
    ['an object', event({ id: 1 })],
    ['NUL', event('evt\u00001')],
    ['no JSON', { body: 'evt_1' }],
    ['a binary body', { body: new Uint8Array([0, 1, 2]) }],
  ])('%s is no id: each is taken', async (_, sent) => {
    const endpoint = await alice.endpoint({ dedupe: { by: 'body.id', windowSeconds: 60, then: 'discard' } })
    await endpoint.send(sent)
    await endpoint.send(sent)
    expect((await rowsOf(endpoint)).length).toBe(2)
    expect(await claimsOf(endpoint)).toBe(0)
  })

  test('ids that are too long, or alike but for their end, are told apart', async () => {
    const endpoint = await alice.endpoint(once('discard'))
    const long = 'x'.repeat(1_000)
    await sendAll(endpoint, [`${long}a`, `${long}b`, `${long}a`, 'A', 'a', ' a', '1', 1])
    expect((await rowsOf(endpoint)).length).toBe(6)
  })

  test('ids that are numbers are told apart by all their digits', async () => {
    const ids = ['9007199254740993', '1732867200.123456789', '123456789012345e300', '1e-400', '0.1e-320']
    const others = ['9007199254740992', '1732867200.123456788', '123456789012344e300', '2e-400', '1e-320']
    const endpoint = await alice.endpoint({ dedupe: { by: 'body.a', windowSeconds: 60, then: 'discard' } })
    for (const id of [...ids, ...others, ...ids])
      expect((await endpoint.send({ body: `{"a":${id}}` })).status).toBe(200)
    expect((await rowsOf(endpoint)).length).toBe(ids.length + others.length)
    expect((await statsOf(endpoint)).traffic.discardedCount).toBe(ids.length)
  })

  test('a header or a query parameter can hold the id', async () => {
    const endpoint = await alice.endpoint({
      dedupe: { by: 'headers.x-event-id', windowSeconds: 60, then: 'discard' },
    })
    for (const id of ['1', '2', '1']) await endpoint.send({ headers: { 'X-Event-Id': id } })
    await alice.patch(endpoint.at(''), { dedupe: { by: 'query.id', windowSeconds: 60, then: 'discard' } })
    for (const id of ['1', '1', '3']) await endpoint.send({ suffix: `?id=${id}` })
    expect((await rowsOf(endpoint)).length).toBe(4)
  })
})

test('only a first that was stored counts', async () => {
  const limited = await startService({
    database: service.database,
    clock: service.clock,
    secretKey: service.secretKey,
    limits: { captureRatePerMinute: 2 },
    parts: ['gateway'],
  })
  const endpoint = await limited.alice.endpoint(once('discard'))
  const status = async (id: string) => (await endpoint.send(event(id))).status
  expect([await status('a'), await status('b'), await status('c'), await status('c')]).toEqual([
    200, 200, 429, 429,
  ])
  await service.clock.advance(61_000)
  expect([await status('c'), await status('c'), await status('a')]).toEqual([200, 200, 429])
  expect((await rowsOf(endpoint)).map(({ eventId }) => eventId)).toEqual(['a', 'b', 'c'])
})

test('replays and imports are never duplicates, and a first that was deleted still counts', async () => {
  await using receiver = await startReceiver()
  const endpoint = await alice.endpoint(once('skip'))
  await alice.post(endpoint.at('/actions'), { kind: 'forward', url: receiver.url })
  const first = await endpoint.capture(event('evt_1'))
  await eventually('its delivery', async () => (await rowsOf(endpoint))[0]?.state === 'Succeeded')
  expect((await alice.post(endpoint.at(`/requests/${first.id}/replay`), {})).status).toBe(200)
  expect(receiver.received.length).toBe(2)
  const { text } = await alice.get(endpoint.at('/requests/export'))
  expect((await endpoint.importLines(text)).status).toBe(200)
  expect((await rowsOf(endpoint)).map(({ duplicateOf }) => duplicateOf)).toEqual([null, null])
  await alice.delete(endpoint.at('/requests'))
  await sendAll(endpoint, ['evt_1'])
  expect(await rowsOf(endpoint)).toMatchObject([{ duplicateOf: first.id, state: 'Skipped' }])
})

test('events that come once take the short way of storing, and endpoints without the setting are not slowed by it', async () => {
  const endpoint = await alice.endpoint(once('skip'))
  const plain = await alice.endpoint()
  expect(await waysOf(() => sendAll(endpoint, ['a', 'b', 'c']))).toEqual({
    plain: 3,
    evicting: 0,
    general: 0,
  })
  expect((await waysOf(() => sendAll(endpoint, ['a']))).general).toBe(1)
  await sendAll(plain, ['a'])
  // Captures wait for a batch that cannot be stored, and then form the next ones.
  const held = await alice.endpoint()
  const ways = await waysOf(async () => {
    const sent = await service.db.transaction().execute(async (trx) => {
      await lockCounters(trx, held.id)
      const waiting = held.send()
      await eventually('the batch', () => isWaitingForLock(service.db))
      const following = [plain.send(event('a')), endpoint.send(event('a')), plain.send(event('a'))]
      for (let call = 0; call < 3; call += 1) await alice.get('/api/v1/endpoints')
      return [waiting, ...following]
    })
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })
  // The one that was held, those of the endpoint without the setting, and the duplicate.
  expect(ways).toEqual({ plain: 2, evicting: 0, general: 1 })
  await sendAll(endpoint, ['d'])
  expect(await firstsOf(endpoint)).toEqual([null, null, null, 0, 0, null])
  expect(await claimsOf(endpoint)).toBe(4)
})

test('the window begins with the first and ends for good, whenever duplicates come', async () => {
  const steps = fc.array(
    fc.record({ waitSeconds: fc.integer({ min: 0, max: 70 }), id: fc.nat({ max: 2 }) }),
    { minLength: 3, maxLength: 8 },
  )
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 100 }), async (sent, windowSeconds) => {
      const endpoint = await alice.endpoint(once('mark', { windowSeconds }))
      const firsts = new Map<number, { readonly index: number; readonly until: number }>()
      const expected: (number | null)[] = []
      const begunAt = service.clock.now().getTime()
      let now = 0
      for (const [index, { waitSeconds, id }] of sent.entries()) {
        await service.clock.advance(waitSeconds * 1000)
        now += waitSeconds
        const first = firsts.get(id)
        const isDuplicate = first !== undefined && now < first.until
        expected.push(isDuplicate ? first.index : null)
        if (!isDuplicate) firsts.set(id, { index, until: now + windowSeconds })
        // At whole seconds, however long the calls take.
        await service.clock.at(new Date(begunAt + now * 1000), () => endpoint.send(event(`evt_${id}`)))
      }
      expect(await firstsOf(endpoint)).toEqual(expected)
    }),
    { numRuns: 8 },
  )
})

test('eight senders over two gateways: each event acts once, and a restart changes nothing', async () => {
  const { database, clock, secretKey } = service
  const startGateway = () => startService({ database, clock, secretKey, parts: ['gateway'] })
  await using receiver = await startReceiver()
  const skips = await alice.endpoint(once('skip'))
  const discards = await alice.endpoint(once('discard'))
  await alice.post(skips.at('/actions'), { kind: 'forward', url: receiver.url })
  const ids = Array.from({ length: 30 }, (_, n) => `evt_${n}`)
  let other = await startGateway()
  const send = async (times: number) => {
    const sender = async (at: number) => {
      const { captureUrl } = at % 2 === 0 ? service : other
      for (let time = 0; time < times; time += 1) {
        for (const [n] of ids.entries()) {
          const init = { method: 'POST', ...event(ids[(n * 7 + at) % ids.length]) }
          const answers = [skips, discards].map(({ url }) => fetch(captureUrl + new URL(url).pathname, init))
          expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200])
        }
      }
    }
    await Promise.all(Array.from({ length: 8 }, (_, at) => sender(at)))
  }
  await send(3)
  await other.stop()
  other = await startGateway()
  await send(2)
  const count = async (endpoint: TestEndpoint) => {
    const { rows } = await sql<{ stored: number; firsts: number; skipped: number; ids: number }>`
      select count(*)::int as stored, count(*) filter (where duplicate_of is null)::int as firsts,
        count(*) filter (where dispatch_state = 'Skipped')::int as skipped, count(distinct event_id)::int as ids
      from requests where endpoint_id = ${endpoint.id}`.execute(service.db)
    return rows[0]
  }
  const sent = ids.length * 8 * 5
  expect(await count(discards)).toEqual({ stored: 30, firsts: 30, skipped: 0, ids: 30 })
  expect(await count(skips)).toEqual({ stored: sent, firsts: 30, skipped: sent - 30, ids: 30 })
  expect((await statsOf(discards)).traffic.discardedCount).toBe(sent - 30)
  await receiver.take(30)
  await eventually(
    'the end of the deliveries',
    async () => (await rowsOf(skips, 'state=Pending')).length === 0,
  )
  expect(receiver.received.map(({ body }) => JSON.parse(body.toString()).id).toSorted()).toEqual(
    ids.toSorted(),
  )
  for (const endpoint of [skips, discards]) await expectCountersEqualRows(service, endpoint.id)
  expect(await claimsOf(skips)).toBe(30)
})

test('claims count in the storage of the workspace, and go last where it is full', async () => {
  const storedBytesMax = 40_000
  // See docs/security.md.
  const CLAIM_BYTES = 224
  const small = await startService({ limits: { storedBytesMax } })
  const endpoint = await small.alice.endpoint(once('discard'))
  const { db } = small
  const claims = async () =>
    (await sql<{ count: number }>`select count(*)::int as count from event_claims`.execute(db)).rows[0]?.count
  await sendAll(endpoint, ['a', 'b', 'c'])
  await sql`
    insert into event_claims select ${endpoint.id}, gen_random_uuid(), 1, now() + n * interval '1 s' from generate_series(1, 300) n`.execute(
    db,
  )
  await sql`update endpoint_counters set claim_count = 303 where endpoint_id = ${endpoint.id}`.execute(db)
  await sweepBytes(small.running.services, new AbortController().signal)
  expect((await endpoint.requests()).length).toBe(0)
  expect(await claims()).toBe(Math.floor(storedBytesMax / CLAIM_BYTES))
  const { rows } = await sql<{
    counted: number
  }>`select claim_count::int as counted from endpoint_counters`.execute(db)
  expect(rows[0]?.counted).toBe(Math.floor(storedBytesMax / CLAIM_BYTES))
})

test('claims go when their window has ended, with their endpoint, and by a purge', async () => {
  const endpoint = await alice.endpoint(once('skip'))
  await sendAll(endpoint, ['a', 'b', 'a'])
  expect(await claimsOf(endpoint)).toBe(2)
  await service.clock.advance(601_000)
  await sendAll(endpoint, ['a', 'c'])
  await sweepRetention(service)
  // One claim was replaced, one is new, and one has ended.
  expect(await claimsOf(endpoint)).toBe(2)
  expect(await firstsOf(endpoint)).toEqual([null, null, 0, null, null])
  await service.operator.retention.purge({ workspace: alice.workspaceId, endpoint: endpoint.id })
  expect(await claimsOf(endpoint)).toBe(0)
  await sendAll(endpoint, ['a'])
  await alice.delete(endpoint.at(''))
  await sweepEndpoints(service)
  const left = async () =>
    (await sql`select from event_claims where endpoint_id = ${endpoint.id}`.execute(service.db)).rows.length
  expect(await left()).toBe(0)
})
