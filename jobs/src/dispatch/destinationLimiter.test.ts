import { describe, expect, test } from 'bun:test'
import { DestinationLimiter } from './destinationLimiter.ts'

const limits = { total: 10, perAction: 4, perFastAction: 6, perDeadAction: 2, bytes: 1000 }
const to = (actionId: string, bodyBytes = 1) => ({ actionId, bodyBytes })
const fill = (limiter: DestinationLimiter, actionId: string, count: number) =>
  Array.from({ length: count }, () => limiter.admit(to(actionId), 0))

describe('DestinationLimiter', () => {
  test('an action that answers lets further attempts wait for a slot', () => {
    const limiter = new DestinationLimiter(limits)
    expect(fill(limiter, 'a', 5)).toEqual(['start', 'start', 'start', 'start', 'wait'])
    limiter.release(to('a'), { durationMs: 3, answered: true }, 0)
    expect(limiter.admit(to('a'), 0)).toBe('start')
  })

  test('an action that is known to answer soon may have more claimed than it has connections', () => {
    const limiter = new DestinationLimiter(limits)
    fill(limiter, 'a', 4)
    limiter.release(to('a'), { durationMs: 3, answered: true }, 0)
    expect(fill(limiter, 'a', 4)).toEqual(['start', 'start', 'start', 'wait'])
    limiter.release(to('a'), { durationMs: 15_000, answered: false }, 0)
    limiter.release(to('a'), { durationMs: 15_000, answered: false }, 0)
    expect(limiter.admit(to('a'), 0)).toMatchObject({ afterMs: expect.any(Number) })
  })

  test('what nobody has queued comes first only where nothing stands in line', () => {
    const limiter = new DestinationLimiter(limits)
    expect(limiter.admitAhead(to('a'), 0)).toBe(true)
    expect(limiter.admitAhead(to('a'), 0)).toBe(true)
    expect(limiter.admitAhead(to('a'), 0)).toBe(false)
    fill(limiter, 'a', 3)
    for (let i = 0; i < 3; i++) limiter.release(to('a'), { durationMs: 3, answered: true }, 1)
    expect(limiter.admitAhead(to('a'), 999)).toBe(false)
    expect(limiter.admitAhead(to('a'), 1000)).toBe(true)
    limiter.release(to('a'), { durationMs: 15_000, answered: false }, 1000)
    expect(limiter.admitAhead(to('a'), 1000)).toBe(false)
  })

  test('a full destination leaves the others alone', () => {
    const limiter = new DestinationLimiter(limits)
    fill(limiter, 'dead', 4)
    expect(limiter.admit(to('live'), 0)).toBe('start')
  })

  test('an action that fails sends attempts away, each to a later time, and keeps fewer slots', () => {
    const limiter = new DestinationLimiter(limits)
    fill(limiter, 'dead', 4)
    for (let i = 0; i < 4; i++) limiter.release(to('dead'), { durationMs: 15_000, answered: false }, 0)
    expect(fill(limiter, 'dead', 2)).toEqual(['start', 'start'])
    const [first, second] = fill(limiter, 'dead', 2)
    if (typeof first !== 'object' || typeof second !== 'object') throw new Error('not deferred')
    expect(second.afterMs).toBeGreaterThan(first.afterMs)
    fill(limiter, 'dead', 1000)
    expect(limiter.giveUp(to('dead'), 0)).toBe(60_000)
  })

  test('a destination in which nothing moves sends attempts away before any has timed out', () => {
    const limiter = new DestinationLimiter(limits)
    fill(limiter, 'silent', 4)
    expect(limiter.admit(to('silent'), 249)).toBe('wait')
    expect(limiter.admit(to('silent'), 250)).toEqual({ afterMs: 1000 })
  })

  test('a destination that has answered is given longer', () => {
    const limiter = new DestinationLimiter(limits)
    fill(limiter, 'slow', 4)
    limiter.release(to('slow'), { durationMs: 900, answered: true }, 0)
    fill(limiter, 'slow', 1)
    expect(limiter.admit(to('slow'), 999)).toBe('wait')
    expect(limiter.admit(to('slow'), 1000)).toEqual({ afterMs: 1000 })
  })

  test('an answer brings the slots back', () => {
    const limiter = new DestinationLimiter(limits)
    fill(limiter, 'a', 2)
    limiter.release(to('a'), { durationMs: 15_000, answered: false }, 0)
    limiter.release(to('a'), { durationMs: 15_000, answered: false }, 0)
    fill(limiter, 'a', 1)
    limiter.release(to('a'), { durationMs: 5, answered: true }, 0)
    expect(fill(limiter, 'a', 4)).toEqual(['start', 'start', 'start', 'start'])
  })

  test('the process has an end of slots and of bytes', () => {
    const limiter = new DestinationLimiter(limits)
    for (const action of ['a', 'b', 'c']) fill(limiter, action, 3)
    expect([limiter.admit(to('d'), 0), limiter.admit(to('e'), 0)]).toEqual(['start', 'wait'])
    const heavy = new DestinationLimiter(limits)
    expect(heavy.admit(to('a', 5000), 0)).toBe('start')
    expect(heavy.admit(to('b', 1), 0)).toBe('wait')
    heavy.release(to('a', 5000), null, 0)
    expect(heavy.admit(to('b', 1), 0)).toBe('start')
  })
})
