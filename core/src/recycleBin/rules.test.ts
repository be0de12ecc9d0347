import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { planRestore, purgesAt } from './rules.ts'

const day = (count: number) => new Date(Date.UTC(2026, 10, 1) + count * 86_400_000)

describe('purgesAt', () => {
  test.each([
    ['seven days after the deletion', 1, 90, 8],
    ['when the plan retention ends, if that is first', 1, 3, 3],
    ['with the retention of the plan of today', 13, 14, 14],
  ])('is %s', (_when, deletedOn, retentionDays, expected) => {
    expect(purgesAt({ receivedAt: day(0), deletedAt: day(deletedOn) }, retentionDays * 86_400_000)).toEqual(
      day(expected),
    )
  })
})

describe('planRestore', () => {
  const request = (endpointId: string, id: number, receivedAt: number) => ({
    endpointId,
    id,
    receivedAt: new Date(receivedAt),
  })

  test('restores newest first, each endpoint up to its own room', () => {
    const requests = [request('a', 1, 10), request('b', 2, 20), request('a', 3, 30), request('a', 4, 5)]
    const { restored, skippedAtCap } = planRestore(requests, new Map([['a', 1]]))
    expect(restored.map(({ id }) => id)).toEqual([3])
    expect(skippedAtCap).toBe(3)
  })

  test('never exceeds the room, never leaves a newer one behind an older one, loses none', () => {
    const requests = fc.uniqueArray(
      fc.record({
        endpointId: fc.constantFrom('a', 'b'),
        id: fc.nat(),
        receivedAt: fc.date({ noInvalidDate: true }),
      }),
      { selector: ({ id }) => id, maxLength: 40 },
    )
    fc.assert(
      fc.property(requests, fc.nat({ max: 10 }), fc.nat({ max: 10 }), (all, roomA, roomB) => {
        const plan = planRestore(
          all,
          new Map([
            ['a', roomA],
            ['b', roomB],
          ]),
        )
        expect(plan.restored.length + plan.skippedAtCap).toBe(all.length)
        for (const [endpointId, room] of [
          ['a', roomA],
          ['b', roomB],
        ] as const) {
          const mine = all.filter((one) => one.endpointId === endpointId)
          const taken = plan.restored.filter((one) => one.endpointId === endpointId)
          expect(taken.length).toBe(Math.min(room, mine.length))
          const oldestTaken = Math.min(...taken.map((one) => one.receivedAt.getTime()))
          for (const left of mine.filter((one) => !taken.includes(one)))
            if (taken.length > 0) expect(left.receivedAt.getTime()).toBeLessThanOrEqual(oldestTaken)
        }
      }),
    )
  })
})
