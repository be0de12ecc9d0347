import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Captured, scheduleOf } from './schedule.ts'

const captured = fc
  .array(fc.nat(60_000), { minLength: 1, maxLength: 60 })
  .map((times): Captured[] =>
    times.sort((a, b) => a - b).map((receivedAtMs, index) => ({ requestId: index + 1, receivedAtMs })),
  )
const share = fc.integer({ min: 0, max: 20 }).map((percent) => percent / 100)
const faults = fc.record({
  duplicate: share,
  reorder: share,
  badSignature: share,
  drop: share,
  late: fc.record({ share, bySeconds: fc.integer({ min: 1, max: 60 }) }),
})
const pace = fc.oneof(
  fc.constant(null),
  fc.record({ speed: fc.integer({ min: 1, max: 100 }) }),
  fc.record({ perSecond: fc.integer({ min: 1, max: 100 }) }),
)
const options = fc.record({
  order: fc.constantFrom('arrival' as const, 'shuffled' as const),
  pace,
  faults,
  seed: fc.nat(),
})

describe('a schedule', () => {
  test('is the same for the same seed, sends each request once or twice, and never goes back in time', () => {
    fc.assert(
      fc.property(captured, options, (requests, terms) => {
        const { items, dropped } = scheduleOf(requests, terms)
        expect(scheduleOf(requests, terms)).toEqual({ items, dropped })
        const sent = items.filter(({ copy }) => copy === 0).map(({ requestId }) => requestId)
        expect([...sent, ...dropped].sort((a, b) => a - b)).toEqual(
          requests.map(({ requestId }) => requestId),
        )
        const duplicates = items.filter(({ copy }) => copy === 1)
        expect(duplicates).toHaveLength(Math.round(requests.length * terms.faults.duplicate))
        expect(dropped).toHaveLength(Math.round(requests.length * terms.faults.drop))
        for (const [at, item] of items.entries())
          expect(item.dueMs).toBeGreaterThanOrEqual(items[at - 1]?.dueMs ?? 0)
      }),
    )
  })

  test('without faults keeps the order, and the distances divided by the speed', () => {
    fc.assert(
      fc.property(captured, fc.integer({ min: 1, max: 100 }), (requests, speed) => {
        const { items } = scheduleOf(requests, { order: 'arrival', pace: { speed }, faults: {}, seed: 1 })
        const first = requests[0]?.receivedAtMs ?? 0
        expect(items.map(({ requestId, dueMs }) => [requestId, dueMs])).toEqual(
          requests.map(({ requestId, receivedAtMs }) => [
            requestId,
            Math.round((receivedAtMs - first) / speed),
          ]),
        )
      }),
    )
  })

  test('sends a late request later, by its seconds divided by the speed', () => {
    const requests = [0, 1000, 2000].map((receivedAtMs, index) => ({ requestId: index, receivedAtMs }))
    const { items } = scheduleOf(requests, {
      order: 'arrival',
      pace: { speed: 10 },
      faults: { late: { share: 1, bySeconds: 30 } },
      seed: 1,
    })
    expect(items.map(({ dueMs }) => dueMs)).toEqual([3000, 3100, 3200])
  })

  test('leaves a gap where a request is dropped', () => {
    const requests = [0, 1000, 2000, 3000].map((receivedAtMs, index) => ({ requestId: index, receivedAtMs }))
    const { items, dropped } = scheduleOf(requests, {
      order: 'arrival',
      pace: { speed: 1 },
      faults: { drop: 0.25 },
      seed: 1,
    })
    expect(items.map(({ requestId, dueMs }) => [requestId, dueMs])).toEqual(
      requests.filter(({ requestId }) => !dropped.includes(requestId)).map((one) => Object.values(one)),
    )
  })

  test('keeps the least time between two sends', () => {
    const requests = [0, 0, 0].map((receivedAtMs, index) => ({ requestId: index, receivedAtMs }))
    const terms = { order: 'arrival', pace: { speed: 1 }, faults: {}, seed: 1, gapMs: 250 } as const
    expect(scheduleOf(requests, terms).items.map(({ dueMs }) => dueMs)).toEqual([0, 250, 500])
  })
})
