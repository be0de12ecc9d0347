import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { LATE_MS_MAX, LEAD_MS_MAX } from '../../dispatch/index.ts'
import { breakerAfter } from './breaker.ts'
import { AHEAD_MS, decide, type Flow, spacingOf } from './decide.ts'

const NOW = 1_000_000_000
const FREE: Flow = {
  policy: {},
  sealedUntil: null,
  isPaused: false,
  endsAt: null,
  drainPerSecond: null,
  nextStartAt: null,
  notBefore: null,
  breaker: 'closed',
  nextProbeAt: null,
  closedAt: null,
  sending: 0,
}
const ROOM = { slots: 10, leadMs: 10 }

describe('decide', () => {
  test('an action without bounds takes every slot at once', () => {
    expect(decide(FREE, NOW, ROOM)).toEqual({
      kind: 'go',
      limit: 10,
      firstAt: NOW,
      spacingMs: 0,
      isProbe: false,
    })
  })

  test('a pause waits for an event, and a receiver that asked for time until then', () => {
    expect(decide({ ...FREE, isPaused: true }, NOW, ROOM)).toEqual({ kind: 'wait', until: null })
    const slowed = { ...FREE, notBefore: NOW + 5000 }
    expect(decide(slowed, NOW, ROOM)).toEqual({ kind: 'wait', until: NOW + 5000 })
    expect(decide(slowed, NOW + 5000, ROOM).kind).toBe('go')
  })

  test('nothing starts in a sealed workspace, whatever else holds', () => {
    const sealed = { ...FREE, sealedUntil: NOW + 2000, isPaused: true, endsAt: NOW - 1 }
    expect(decide(sealed, NOW, ROOM)).toEqual({ kind: 'wait', until: NOW + 2000 })
  })

  test('deliveries of an action that was switched off for long end, whatever holds the others', () => {
    const off = { ...FREE, endsAt: NOW, isPaused: true, policy: { concurrency: 1 }, sending: 1 }
    expect(decide(off, NOW, ROOM)).toMatchObject({ kind: 'go', limit: 10 })
    expect(decide(off, NOW - 1, ROOM)).toEqual({ kind: 'wait', until: NOW })
  })

  test('concurrency counts what is in flight anywhere', () => {
    const policy = { concurrency: 4 }
    expect(decide({ ...FREE, policy, sending: 3 }, NOW, ROOM)).toMatchObject({ kind: 'go', limit: 1 })
    expect(decide({ ...FREE, policy, sending: 4 }, NOW, ROOM)).toEqual({ kind: 'wait', until: null })
  })

  test('an open breaker lets one probe out at its time', () => {
    const policy = { breaker: { failures: 1, windowSeconds: 1, probeEverySeconds: 1 } }
    const open: Flow = { ...FREE, policy, breaker: 'open', nextProbeAt: NOW + 1 }
    expect(decide(open, NOW, ROOM)).toEqual({ kind: 'wait', until: NOW + 1 })
    expect(decide(open, NOW + 1, ROOM)).toMatchObject({ kind: 'go', limit: 1, isProbe: true })
    // Without a breaker in the policy the stored state of one has no effect.
    expect(decide({ ...open, policy: {} }, NOW, ROOM)).toMatchObject({ kind: 'go', isProbe: false })
  })

  test('what waits behind a breaker that closed goes out slowly at first', () => {
    const policy = { breaker: { failures: 1, windowSeconds: 1, probeEverySeconds: 1 } }
    const closed = { policy, drainPerSecond: null, closedAt: NOW }
    expect([0, 1000, 2000, 8000].map((ms) => spacingOf(closed, NOW + ms))).toEqual([200, 100, 50, 0])
    // By a clock that is ahead of this one, or was set back.
    expect([-1, -7_000, -3_600_000].map((ms) => spacingOf(closed, NOW + ms))).toEqual([200, 200, 0])
  })

  test('a start that a slower pace reserved does not outlive it', () => {
    const policy = { rate: { count: 10, perSeconds: 1 } }
    const decision = decide({ ...FREE, policy, nextStartAt: NOW + 3_600_000 }, NOW, ROOM)
    if (decision.kind !== 'wait' || decision.until === null) throw new Error('It does not wait.')
    expect(decision.until).toBeLessThan(NOW + LEAD_MS_MAX + 500)
  })

  test('no window of a rate holds one too many, however looks and delays fall', () => {
    const looks = fc.array(
      fc.record({
        waitMs: fc.integer({ min: 0, max: 400 }),
        slots: fc.integer({ min: 1, max: 50 }),
        leadMs: fc.integer({ min: 1, max: 200 }),
        lateMs: fc.integer({ min: 0, max: LATE_MS_MAX }),
      }),
      { minLength: 10, maxLength: 80 },
    )
    const rates = fc.record({
      count: fc.integer({ min: 1, max: 200 }),
      perSeconds: fc.integer({ min: 1, max: 5 }),
    })
    fc.assert(
      fc.property(rates, looks, (rate, steps) => {
        let now = NOW
        let nextStartAt: number | null = null
        const starts: number[] = []
        for (const { waitMs, lateMs, ...room } of steps) {
          now += waitMs
          const decision = decide({ ...FREE, policy: { rate }, nextStartAt }, now, room)
          if (decision.kind === 'wait') continue
          const { limit, firstAt, spacingMs } = decision
          expect(firstAt).toBeGreaterThanOrEqual(now + room.leadMs)
          expect(firstAt).toBeLessThanOrEqual(now + room.leadMs + AHEAD_MS)
          for (let index = 0; index < limit; index += 1)
            starts.push(firstAt + index * spacingMs + (index % 2) * lateMs)
          nextStartAt = firstAt + limit * spacingMs
        }
        starts.sort((a, b) => a - b)
        for (let from = 0; from + rate.count < starts.length; from += 1) {
          const tooSoon = (starts[from + rate.count] ?? 0) - (starts[from] ?? 0)
          expect(tooSoon).toBeGreaterThanOrEqual(rate.perSeconds * 1000)
        }
      }),
    )
  })
})

describe('breakerAfter', () => {
  const policy = { failures: 3, windowSeconds: 10, probeEverySeconds: 5 }
  const closed = { state: 'closed', failures: [], openedAt: null, nextProbeAt: null, closedAt: null } as const
  const at = (seconds: number) => new Date(NOW + seconds * 1000)
  const failed = (seconds: number) => ({ hasSucceeded: false, at: at(seconds) })
  const succeeded = (seconds: number) => ({ hasSucceeded: true, at: at(seconds) })

  test('opens at the last of so many failures in a window, whatever succeeds in between', () => {
    const outcomes = [failed(0), succeeded(1), failed(2), failed(3)]
    expect(breakerAfter(closed, outcomes.slice(0, 3), policy).state).toBe('closed')
    expect(breakerAfter(closed, outcomes, policy)).toEqual({
      state: 'open',
      failures: [],
      openedAt: at(3),
      nextProbeAt: at(8),
      closedAt: null,
    })
  })

  test('forgets failures that are older than the window', () => {
    expect(breakerAfter(closed, [failed(0), failed(1), failed(10)], policy).state).toBe('closed')
  })

  test('a probe that fails leaves the next one its time, and the first success closes it', () => {
    const open = breakerAfter(closed, [failed(0), failed(0), failed(0)], policy)
    const probing = { ...open, state: 'probing' as const, nextProbeAt: at(10) }
    expect(breakerAfter(probing, [failed(6)], policy)).toEqual({ ...probing, state: 'open' })
    const well = breakerAfter(probing, [succeeded(6)], policy)
    expect(well).toMatchObject({ state: 'closed', failures: [], closedAt: at(6), nextProbeAt: null })
  })
})
