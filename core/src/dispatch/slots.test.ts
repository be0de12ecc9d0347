import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dividedLimits, type Lane, SLOT_LIMITS, Slots } from './slots.ts'

const MINUTE_MS = 60_000

/** Slots under a clock that the test sets. */
function make(limits = SLOT_LIMITS) {
  const clock = { ms: 0 }
  return { clock, limits, slots: new Slots(limits, () => clock.ms) }
}

const lane = (workspaceId: string, id = workspaceId): Lane => ({
  workspaceId,
  id: `${workspaceId} ${id}`,
})

/** Asks `count` times for a slot; returns the number of slots. */
const fill = (slots: Slots, of: Lane, count: number): number =>
  Array.from({ length: count }, () => slots.admit(of, 1)).filter((isTaken) => isTaken).length

/** Makes a lane known for answers that take as long. */
function answered(slots: Slots, of: Lane, durationMs: number): void {
  slots.take(of, 1)
  slots.release(of, 1, { durationMs, answered: true })
}

/** Takes all slots that a workspace gets through so many lanes. */
const flood = (slots: Slots, workspaceId: string, lanes: number): number =>
  Array.from({ length: lanes }, (_, at) => fill(slots, lane(workspaceId, String(at)), 1000)).reduce(
    (sum, count) => sum + count,
    0,
  )

describe('a lane', () => {
  test('has as many slots as connections, and more once it is known to be answered at once', () => {
    const { slots } = make()
    expect(fill(slots, lane('a'), 1000)).toBe(128)
    answered(slots, lane('a'), 3)
    expect(fill(slots, lane('a'), 1000)).toBe(384)
  })

  test('that is never answered keeps sixteen slots', () => {
    const { slots } = make()
    const dead = lane('a', 'dead')
    expect(fill(slots, dead, 128)).toBe(128)
    for (let at = 0; at < 128; at += 1) slots.release(dead, 1, { durationMs: 15_000, answered: false })
    expect(fill(slots, dead, 100)).toBe(16)
    slots.release(dead, 1, { durationMs: 5, answered: true })
    expect(fill(slots, dead, 1)).toBe(1)
  })

  test('begins sends that no look has claimed only in half of its slots, while none waits and it is answered', async () => {
    const { slots } = make()
    const a = lane('a')
    expect(Array.from({ length: 65 }, () => slots.takeIdle(a, 1)).filter((isTaken) => isTaken)).toHaveLength(
      64,
    )
    for (let at = 0; at < 64; at += 1) slots.release(a, 1, { durationMs: 3, answered: true })
    expect(slots.takeIdle(a, 1)).toBe(true)
    slots.release(a, 1, null)
    for (let at = 0; at < 1536; at += 1) slots.take(lane('busy'), 1)
    const waiting = slots.hold(a, 1)
    slots.giveBack(lane('busy'), 1000)
    expect(slots.takeIdle(a, 1)).toBe(false)
    slots.giveBack(a, await waiting)
    expect(slots.takeIdle(a, 1)).toBe(true)
    slots.release(a, 1, { durationMs: 15_000, answered: false })
    expect(slots.takeIdle(a, 1)).toBe(false)
  })

  test('that holds its slots leaves others of its workspace some, and those with fast answers an eighth', () => {
    const { slots, clock } = make()
    fill(slots, lane('b'), 1)
    expect(flood(slots, 'a', 40)).toBeGreaterThan(400)
    clock.ms = 2000
    answered(slots, lane('a', 'fast'), 5)
    expect(fill(slots, lane('a', 'fast'), 100)).toBeGreaterThan(25)
  })
})

describe('a workspace', () => {
  test('alone may hold all slots but the reserve and the part of its own fast lanes', () => {
    const { slots } = make()
    const held = flood(slots, 'a', 60)
    expect(held).toBeWithin(1170, 1177)
  })

  test('beside others holds half of them, and a quarter while another waits', () => {
    const { slots, clock } = make()
    expect(fill(slots, lane('b'), 1)).toBe(1)
    const held = flood(slots, 'a', 60)
    expect(held).toBeWithin(580, 673)
    expect(fill(slots, lane('b'), 99)).toBe(99)
    // A minute after the last request of another, all slots are its own again.
    clock.ms = MINUTE_MS
    expect(flood(slots, 'a', 60)).toBeGreaterThan(400)
  })

  test('with more than a quarter gets none of those that become free while another waits', async () => {
    const { slots } = make()
    for (let at = 0; at < 1400; at += 1) slots.take(lane('a', String(at % 20)), 1)
    // Slow lanes find four in the reserve.
    answered(slots, lane('b'), 2000)
    expect(fill(slots, lane('b'), 100)).toBe(4)
    const waiting = slots.hold(lane('b'), 200)
    for (let at = 0; at < 20; at += 1) slots.giveBack(lane('a', String(at)), 20)
    expect(fill(slots, lane('a', '1'), 100)).toBe(0)
    expect(await waiting).toBeGreaterThan(100)
  })

  test('with fourteen lanes that are answered after 290 s leaves the reserve, however many such workspaces there are', () => {
    const { slots, clock } = make()
    for (const name of ['first', 'second', 'third', 'fourth', 'fifth', 'sixth']) flood(slots, name, 14)
    expect(fill(slots, lane('unproven'), 100)).toBe(4)
    answered(slots, lane('bystander'), 20)
    expect(fill(slots, lane('bystander'), 100)).toBeGreaterThan(4)
    clock.ms = 5 * MINUTE_MS
    expect(fill(slots, lane('later'), 100)).toBeGreaterThan(2)
  })

  test('that holds much of the memory for bodies leaves others as much as it holds', () => {
    const limits = { ...SLOT_LIMITS, bytes: 1000 }
    const { slots } = make(limits)
    expect(slots.admit(lane('a'), 5000)).toBe(true)
    expect(slots.admit(lane('b'), 1)).toBe(false)
    slots.release(lane('a'), 5000, null)
    const held = Array.from({ length: 20 }, () => slots.admit(lane('a'), 100)).filter((isTaken) => isTaken)
    expect(held).toHaveLength(5)
    expect(slots.admit(lane('b'), 250)).toBe(true)
    expect(slots.admit(lane('c'), 200)).toBe(true)
  })
})

describe('lanes that wait', () => {
  test('get slots in turns, workspace by workspace, sixteen at a time', async () => {
    const { slots } = make()
    for (let at = 0; at < 1536; at += 1) slots.take(lane('busy'), 1)
    const order: string[] = []
    const wait = async (of: Lane) => {
      const held = await slots.hold(of, 16)
      order.push(of.id)
      slots.giveBack(of, held)
    }
    const lanes = [lane('a', '1'), lane('a', '2'), lane('a', '3'), lane('b', '1'), lane('c', '1')]
    const waiting = Promise.all(lanes.map(wait))
    slots.giveBack(lane('busy'), 400)
    await waiting
    expect(order).toEqual(['a 1', 'b 1', 'c 1', 'a 2', 'a 3'])
  })

  test('at their own limit are not in line: others get all that they ask for, and an end of their own wakes them', async () => {
    const { slots } = make()
    const dead = lane('a', 'dead')
    for (let at = 0; at < 16; at += 1) slots.take(dead, 1)
    for (let at = 0; at < 16; at += 1) slots.release(dead, 1, { durationMs: 15_000, answered: false })
    expect(await slots.hold(dead, 128)).toBe(16)
    const waiting = slots.hold(dead, 128)
    for (const name of ['a', 'b']) {
      answered(slots, lane(name), 5)
      expect(await slots.hold(lane(name), 128)).toBe(128)
    }
    slots.release(dead, 1, { durationMs: 15_000, answered: false })
    expect(await waiting).toBe(1)
  })

  test('get what several turns give them at once', async () => {
    const { slots } = make()
    for (let at = 0; at < 1536; at += 1) slots.take(lane('busy'), 1)
    const lanes = ['a', 'b', 'c'].map((name) => lane(name))
    for (const one of lanes) answered(slots, one, 5)
    const waiting = Promise.all(lanes.map((one) => slots.hold(one, 128)))
    slots.giveBack(lane('busy'), 1200)
    expect(await waiting).toEqual([128, 128, 128])
  })

  test.each([
    ['together while no slot is free', 1536, 10, 0.01],
    ['for a while, not at each end, if there are very many', 1535, 1000, 0.3],
  ])('are passed over %s', async (_, held, workspaces, share) => {
    let reads = 0
    const slots = new Slots(SLOT_LIMITS, () => {
      reads += 1
      return 0
    })
    for (let at = 0; at < held; at += 1) slots.take(lane(`busy ${at % 8}`), 1)
    const stopping = new AbortController()
    const waiting = Array.from({ length: 1000 }, (_, at) =>
      slots.hold(lane(`of ${at % workspaces}`, String(at)), 16, stopping.signal),
    )
    reads = 0
    const ends = 100
    for (let at = 0; at < ends; at += 1) {
      slots.release(lane('busy 0'), 1, { durationMs: 5, answered: true })
      slots.take(lane('busy 0'), 1)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(reads).toBeLessThan(ends * waiting.length * share)
    stopping.abort()
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([0]))
  })

  test('leave the line when they stop', async () => {
    const { slots } = make()
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) flood(slots, name, 20)
    const stopping = new AbortController()
    const waiting = slots.hold(lane('a', '0'), 16, stopping.signal)
    stopping.abort()
    expect(await waiting).toBe(0)
    expect(await slots.hold(lane('i'), 16, stopping.signal)).toBe(0)
  })
})

test('several processes of a program divide the limits, and a lane without answers has a slot in each', () => {
  expect(dividedLimits(20)).toMatchObject({ total: 77, perLane: 7, perDeadLane: 1 })
  const { slots } = make(dividedLimits(20))
  expect(fill(slots, lane('a'), 100)).toBe(7)
})

test('whatever comes and ends: bounds hold, a newcomer gets a slot while few hold some, and nothing is left over', () => {
  const workspaces = ['a', 'b', 'c', 'd'] as const
  const event = fc.record({
    what: fc.constantFrom('asks', 'asks', 'asks', 'ends', 'waits'),
    workspace: fc.constantFrom(...workspaces),
    lane: fc.integer({ min: 0, max: 5 }),
    durationMs: fc.constantFrom(5, 500, 5000, 290_000),
    passedMs: fc.constantFrom(0, 1, 300, 2000, 70_000),
    count: fc.integer({ min: 1, max: 200 }),
  })
  fc.assert(
    fc.property(fc.array(event, { maxLength: 80 }), (events) => {
      const { slots, clock, limits } = make()
      const held: Lane[] = []
      const count = (is: (of: Lane) => boolean) => held.filter(is).length
      for (const { what, workspace, lane: id, durationMs, passedMs, count: times } of events) {
        clock.ms += passedMs
        const of = lane(workspace, String(id))
        if (what === 'ends') {
          for (const one of held.splice(0, times))
            slots.release(one, 1, { durationMs, answered: durationMs < 9000 })
        } else for (let at = 0; at < times; at += 1) if (slots.admit(of, 1)) held.push(of)
        expect(slots.size).toBe(held.length)
        expect(held.length).toBeLessThanOrEqual(limits.total)
        expect(count((one) => one.id === of.id)).toBeLessThanOrEqual(limits.perFastLane)
        // Four workspaces never hold so much that a fifth gets nothing.
        const stranger = lane('stranger', String(held.length))
        expect(slots.admit(stranger, 1)).toBe(true)
        slots.release(stranger, 1, null)
      }
      for (const one of held) slots.release(one, 1, null)
      expect(slots.size).toBe(0)
    }),
    { numRuns: 150 },
  )
})
