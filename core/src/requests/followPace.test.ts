import { describe, expect, test } from 'bun:test'
import { beatMilliseconds, sentWholeMax } from './follow.ts'

const nothing = { events: 0, requests: 0, isBehind: false }
/** A flood of 5,000 captures a second, for a follower that is sent the newest. */
const flood = { events: 1, requests: 100, isBehind: false }
/** The same flood, for a follower that reads pages. */
const floodByPages = { events: 1, requests: 0, isBehind: true }

describe('the beat of those who follow an endpoint', () => {
  test('a few are told ten times a second, also at 1,000 captures a second', () => {
    expect(beatMilliseconds(1, nothing)).toBe(100)
    expect(beatMilliseconds(3, { events: 1, requests: 100, isBehind: false })).toBe(100)
    expect(beatMilliseconds(1, flood)).toBe(100)
    expect(beatMilliseconds(1, floodByPages)).toBe(100)
  })

  test('two hundred see 40 captures a second within two seconds', () => {
    expect(beatMilliseconds(200, { events: 1, requests: 64, isBehind: false })).toBe(1600)
  })

  test('under a flood two hundred pages show the newest within some seconds, and readers of pages read one in 13 s', () => {
    expect(beatMilliseconds(200, flood)).toBe(3200)
    expect(beatMilliseconds(200, floodByPages)).toBe(12_800)
  })

  test('one page is sent a thousand requests whole, many are sent one event', () => {
    expect([1, 4, 10, 200].map(sentWholeMax)).toEqual([1000, 250, 100, 100])
  })

  test('never waits longer than half a minute', () => {
    expect(beatMilliseconds(100_000, floodByPages)).toBe(25_600)
  })
})
