import { describe, expect, test } from 'bun:test'
import { suggestFrom } from './suggestion.ts'

const START = Date.parse('2026-11-21T09:00:00.000Z')

/** Times of captures with these gaps in seconds (oldest gap first), newest first. */
function captures(gapsSeconds: readonly number[]): Date[] {
  let at = START
  const instants = [new Date(at)]
  for (const gap of gapsSeconds) {
    at += gap * 1000
    instants.push(new Date(at))
  }
  return instants.reverse()
}
const every = (gap: number, count: number) => captures(Array.from({ length: count }, () => gap))

describe('suggestFrom', () => {
  test('takes the 90th percentile by nearest rank and rounds it up', () => {
    const gaps = [100, 200, 300, 400, 500, 600, 700, 800, 900, 5000]
    expect(suggestFrom(captures(gaps))).toEqual({
      available: true,
      reason: null,
      samples: 11,
      observedP90Seconds: 900,
      expectedIntervalSeconds: 900,
      // The longest gap overshoots by 4100 s, but the grace never exceeds the interval.
      graceSeconds: 900,
      newestAt: new Date(START + 9_500_000),
      oldestAt: new Date(START),
    })
  })

  test.each([
    [60, 60],
    [61, 120],
    [121, 300],
    [301, 600],
    [601, 900],
    [901, 1800],
    [1801, 3600],
    [3601, 7200],
    [86_400, 86_400],
    [86_401, 172_800],
    [3_000_000, 2_678_400],
  ])('an observed %i s becomes %i s', (gap, interval) => {
    expect(suggestFrom(every(gap, 10)).expectedIntervalSeconds).toBe(interval)
  })

  test.each([
    [every(3412, 143), 720],
    [every(60, 20), 60],
    [captures([...Array<number>(12).fill(3600), 5000]), 1440],
  ])('the grace covers a fifth of the interval or the longest gap seen', (instants, grace) => {
    expect(suggestFrom(instants).graceSeconds).toBe(grace)
  })

  test('captures that were imported after newer ones count by their times', () => {
    const history = every(300, 20)
    expect(suggestFrom([...history.slice(10), ...history.slice(0, 10)])).toEqual(suggestFrom(history))
  })

  test('bursts are one signal', () => {
    const bursts = captures(Array.from({ length: 10 }, () => [0.2, 0.3, 300]).flat())
    expect(suggestFrom(bursts)).toMatchObject({ samples: 31, observedP90Seconds: 300 })
    expect(suggestFrom(captures(Array<number>(400).fill(0.9)))).toMatchObject({
      available: false,
      samples: 401,
    })
  })

  test.each([
    ['nothing', [], 0],
    ['nine gaps', every(300, 9), 10],
    ['a span under ten minutes', every(59, 10), 11],
  ])('%s is too little history', (_what, instants, samples) => {
    const suggestion = suggestFrom(instants)
    expect(suggestion).toMatchObject({
      available: false,
      samples,
      expectedIntervalSeconds: null,
      graceSeconds: null,
      observedP90Seconds: null,
      newestAt: instants[0] ?? null,
      oldestAt: instants.at(-1) ?? null,
    })
    expect(suggestion.reason).toBeString()
  })
})
