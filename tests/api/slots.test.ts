import { afterAll, beforeAll, expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { z } from 'zod'
import { type Slot, takeSlot } from '../../core/src/api/slots.ts'
import { startService, type TestService } from '../support/service.ts'

const SECOND = 1000
/** For how long before and after its time a promised slot is kept. */
const KEPT = 2 * SECOND

let service: TestService
beforeAll(async () => {
  service = await startService({ parts: ['gateway'] })
})
afterAll(() => service.stop())

const Refusal = z.object({
  code: z.literal('rate_limited'),
  more: z.object({ retryAfterSeconds: z.int().min(1).max(60) }),
})

/** The slots of a new scope, at a time that only the test moves. */
function slotsOf(max: number) {
  const scope = `test:${randomUUID()}`
  let now = Date.parse('2026-01-01T00:00:00Z')
  const services = { db: service.db, clock: { now: () => new Date(now) } }
  return {
    at: () => now,
    pass(milliseconds: number) {
      now += milliseconds
    },
    /** The slot, or the seconds after which a refused caller is to come back. */
    async take(longestMs: number): Promise<Slot | number> {
      try {
        return await takeSlot(services, { scope, max, longestMs, noun: 'tests' })
      } catch (error) {
        return Refusal.parse(error).more.retryAfterSeconds
      }
    },
    async rows() {
      const rows = await service.db
        .selectFrom('concurrencySlots')
        .where('scope', '=', scope)
        .selectAll()
        .execute()
      const live = rows.filter(({ endsAt }) => endsAt.getTime() > now)
      const promises = live.flatMap(({ keptFrom, endsAt }) =>
        keptFrom === null ? [] : [{ keptFrom, endsAt }],
      )
      return { ended: rows.length - live.length, inUse: live.length - promises.length, promises }
    },
  }
}

const isSlot = (taken: Slot | number): taken is Slot => typeof taken !== 'number'

const duration = fc.integer({ min: 1, max: 90 * SECOND })
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('take' as const),
      for: fc.array(duration, { minLength: 1, maxLength: 5 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('free' as const), nth: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('renew' as const), nth: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.nat({ max: 30 * SECOND }) }) },
)

test('no more than may be are ever in use, a call is refused only for slots in use or kept, and what was promised ends', async () => {
  const property = fc.asyncProperty(
    fc.integer({ min: 1, max: 4 }),
    fc.array(step, { minLength: 5, maxLength: 25 }),
    async (max, steps) => {
      const slots = slotsOf(max)
      const held: Slot[] = []
      for (const next of steps) {
        if (next.do === 'pass') slots.pass(next.ms)
        if (next.do === 'renew') await held[next.nth % held.length]?.extend(60 * SECOND)
        if (next.do === 'free') await held.splice(next.nth % Math.max(1, held.length), 1)[0]?.free()
        if (next.do !== 'take') continue
        const { promises } = await slots.rows()
        const soon = promises.filter(({ keptFrom }) => {
          const inMs = keptFrom.getTime() - slots.at()
          return inMs > 0 && inMs <= KEPT
        })
        const taken = await Promise.all(next.for.map((longestMs) => slots.take(longestMs)))
        held.push(...taken.filter(isSlot))
        const after = await slots.rows()
        expect(after.inUse).toBeLessThanOrEqual(max)
        if (!taken.every(isSlot)) expect(after.inUse + soon.length).toBeGreaterThanOrEqual(max)
        expect(after.promises.length).toBeLessThanOrEqual(max)
        expect(after.ended).toBe(0)
        for (const { endsAt } of after.promises)
          expect(endsAt.getTime() - slots.at()).toBeLessThanOrEqual(62 * SECOND)
      }
    },
  )
  await fc.assert(property, { numRuns: 20 })
})

/** A caller: the latest end of its slot, its real end, and how long after `Retry-After` it calls again. */
const caller = fc
  .record({
    longestMs: fc.integer({ min: 1, max: 60 * SECOND }),
    part: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .chain(({ longestMs, part }) =>
    fc.record({
      longestMs: fc.constant(longestMs),
      runsMs: fc.constant(Math.floor(longestMs * part)),
      lateMs: fc.nat({ max: KEPT - 1 }),
    }),
  )

test('callers that come back when they are told to get in, each of them, also while slots end early', async () => {
  const property = fc.asyncProperty(
    fc.integer({ min: 1, max: 4 }).chain((max) =>
      fc.record({
        max: fc.constant(max),
        callers: fc.array(caller, { minLength: max, maxLength: 2 * max }),
      }),
    ),
    async ({ max, callers }) => {
      const slots = slotsOf(max)
      const events: { at: number; happen: () => Promise<unknown> }[] = []
      const hold = ({ runsMs }: { runsMs: number }, slot: Slot) =>
        events.push({ at: slots.at() + runsMs, happen: () => slot.free() })
      for (const one of callers) {
        const taken = await slots.take(one.longestMs)
        if (isSlot(taken)) hold(one, taken)
        else {
          const at = slots.at() + taken * SECOND + one.lateMs
          events.push({
            at,
            happen: async () => {
              const again = await slots.take(one.longestMs)
              if (!isSlot(again)) throw new Error(`refused after ${taken} s`)
              hold(one, again)
            },
          })
        }
      }
      for (;;) {
        events.sort((a, b) => a.at - b.at)
        const next = events.shift()
        if (next === undefined) return
        slots.pass(next.at - slots.at())
        await next.happen()
      }
    },
  )
  await fc.assert(property, { numRuns: 20 })
})

test('a slot that is renewed is not given to who was refused', async () => {
  const slots = slotsOf(2)
  const held = [await slots.take(60 * SECOND), await slots.take(60 * SECOND)].filter(isSlot)
  const refused = await Promise.all([slots.take(60 * SECOND), slots.take(60 * SECOND)])
  expect(refused).toEqual([60, 60])
  for (let passed = 0; passed < 60; passed += 20) {
    slots.pass(20 * SECOND)
    await Promise.all(held.map((slot) => slot.extend(60 * SECOND)))
  }
  expect(await Promise.all(refused.map(() => slots.take(60 * SECOND)))).toEqual([60, 60])
  await held[0]?.free()
  expect(await slots.take(60 * SECOND)).toBeObject()
})

test('slots that are freed early go to any caller, until two seconds before one is promised', async () => {
  const slots = slotsOf(2)
  const held = [await slots.take(300 * SECOND), await slots.take(300 * SECOND)].filter(isSlot)
  expect([await slots.take(20 * SECOND), await slots.take(20 * SECOND)]).toEqual([60, 60])
  await Promise.all(held.map((slot) => slot.free()))
  const others = [await slots.take(20 * SECOND), await slots.take(20 * SECOND)].filter(isSlot)
  expect(others).toHaveLength(2)
  slots.pass(59 * SECOND)
  expect(await slots.take(SECOND)).toBeNumber()
  slots.pass(SECOND)
  expect([await slots.take(SECOND), await slots.take(SECOND)].filter(isSlot)).toHaveLength(2)
})
