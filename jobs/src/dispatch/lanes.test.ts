import { describe, expect, test } from 'bun:test'
import { Lanes } from './lanes.ts'

const limits = { total: 10, perAction: 4, perDeadAction: 2, bytes: 1000 }
const to = (actionId: string, bodyBytes = 1) => ({ actionId, bodyBytes })
const fill = (lanes: Lanes, actionId: string, count: number) =>
  Array.from({ length: count }, () => lanes.admit(to(actionId), 0))

describe('Lanes', () => {
  test('an action that answers lets further tries wait for a slot', () => {
    const lanes = new Lanes(limits)
    expect(fill(lanes, 'a', 5)).toEqual(['start', 'start', 'start', 'start', 'wait'])
    lanes.release(to('a'), { durationMs: 3, answered: true }, 0)
    expect(lanes.admit(to('a'), 0)).toBe('start')
  })

  test('a full lane leaves the others alone', () => {
    const lanes = new Lanes(limits)
    fill(lanes, 'dead', 4)
    expect(lanes.admit(to('live'), 0)).toBe('start')
  })

  test('an action that fails sends tries away, each to a later time, and keeps fewer slots', () => {
    const lanes = new Lanes(limits)
    fill(lanes, 'dead', 4)
    for (let i = 0; i < 4; i++) lanes.release(to('dead'), { durationMs: 15_000, answered: false }, 0)
    expect(fill(lanes, 'dead', 2)).toEqual(['start', 'start'])
    const [first, second] = fill(lanes, 'dead', 2)
    if (typeof first !== 'object' || typeof second !== 'object') throw new Error('not put off')
    expect(second.afterMs).toBeGreaterThan(first.afterMs)
    fill(lanes, 'dead', 1000)
    expect(lanes.giveUp(to('dead'), 0)).toBe(60_000)
  })

  test('a lane in which nothing moves sends tries away before any has timed out', () => {
    const lanes = new Lanes(limits)
    fill(lanes, 'silent', 4)
    expect(lanes.admit(to('silent'), 249)).toBe('wait')
    expect(lanes.admit(to('silent'), 250)).toEqual({ afterMs: 1000 })
  })

  test('a lane that has answered is given longer', () => {
    const lanes = new Lanes(limits)
    fill(lanes, 'slow', 4)
    lanes.release(to('slow'), { durationMs: 900, answered: true }, 0)
    fill(lanes, 'slow', 1)
    expect(lanes.admit(to('slow'), 999)).toBe('wait')
    expect(lanes.admit(to('slow'), 1000)).toEqual({ afterMs: 1000 })
  })

  test('an answer brings the slots back', () => {
    const lanes = new Lanes(limits)
    fill(lanes, 'a', 2)
    lanes.release(to('a'), { durationMs: 15_000, answered: false }, 0)
    lanes.release(to('a'), { durationMs: 15_000, answered: false }, 0)
    fill(lanes, 'a', 1)
    lanes.release(to('a'), { durationMs: 5, answered: true }, 0)
    expect(fill(lanes, 'a', 4)).toEqual(['start', 'start', 'start', 'start'])
  })

  test('the process has an end of slots and of bytes', () => {
    const lanes = new Lanes(limits)
    for (const action of ['a', 'b', 'c']) fill(lanes, action, 3)
    expect([lanes.admit(to('d'), 0), lanes.admit(to('e'), 0)]).toEqual(['start', 'wait'])
    const heavy = new Lanes(limits)
    expect(heavy.admit(to('a', 5000), 0)).toBe('start')
    expect(heavy.admit(to('b', 1), 0)).toBe('wait')
    heavy.release(to('a', 5000), null, 0)
    expect(heavy.admit(to('b', 1), 0)).toBe('start')
  })
})
