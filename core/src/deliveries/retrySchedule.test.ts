import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type FailedAttempt,
  isRetrySchedule,
  nextAttemptAt,
  RETRY_DELAYS_SECONDS,
  retryDelaysOf,
  retryScheduleText,
} from './retrySchedule.ts'

const now = new Date('2026-11-21T09:00:00.000Z')
const failed = (more: Partial<FailedAttempt> = {}): FailedAttempt => ({
  now,
  attempt: 1,
  statusCode: 500,
  retryAfter: null,
  ownDelays: false,
  retentionEndsAt: new Date('2027-01-01'),
  ...more,
})
const seconds = (more: Partial<FailedAttempt>, random = 0.5) => {
  const at = nextAttemptAt(failed(more), RETRY_DELAYS_SECONDS, random)
  return at === null ? null : (at.getTime() - now.getTime()) / 1000
}

describe('a schedule of the operator', () => {
  test('is a comma list of durations', () => {
    expect(retryDelaysOf('5s,5m,30m,2h,5h,10h')).toEqual([...RETRY_DELAYS_SECONDS])
    expect(retryDelaysOf(' 250ms , 1.5s,1d ')).toEqual([0.25, 1.5, 86_400])
  })

  test('is written as it is read', () => {
    expect(retryScheduleText(RETRY_DELAYS_SECONDS)).toBe('5s,5m,30m,2h,5h,10h')
    const delay = fc.integer({ min: 1, max: 30 * 86_400_000 }).map((milliseconds) => milliseconds / 1000)
    fc.assert(
      fc.property(fc.array(delay, { minLength: 1, maxLength: 50 }), (delays) => {
        const text = retryScheduleText(delays)
        expect(isRetrySchedule(text)).toBe(true)
        for (const [at, read] of retryDelaysOf(text).entries()) expect(read).toBeCloseTo(delays[at] ?? 0, 6)
      }),
    )
  })

  test.each(['5', '5s,', '', '0s', '-5s', '5 weeks', '31d', '5s;5m', '1e3s', `${'1s,'.repeat(50)}1s`])(
    '%p is none',
    (text) => {
      expect(isRetrySchedule(text)).toBe(false)
    },
  )

  test('decides how many attempts there are', () => {
    const late = (attempt: number) => nextAttemptAt(failed({ attempt }), [0.25, 7], 0.5)?.getTime()
    expect([late(1), late(2), late(3)]).toEqual([now.getTime() + 250, now.getTime() + 7000, undefined])
  })
})

describe('nextAttemptAt', () => {
  test('waits 5 s, 5 min, 30 min, 2 h, 5 h and 10 h, then no more', () => {
    const delays = Array.from({ length: 7 }, (_, at) => seconds({ attempt: at + 1 }))
    expect(delays).toEqual([5, 300, 1800, 7200, 18_000, 36_000, null])
  })

  test('varies each delay by up to a fifth', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempt, random) => {
          const delay = RETRY_DELAYS_SECONDS[attempt - 1] ?? Number.NaN
          const waited = seconds({ attempt }, random) ?? Number.NaN
          expect(waited).toBeGreaterThanOrEqual(delay * 0.8 - 0.001)
          expect(waited).toBeLessThanOrEqual(delay * 1.2 + 0.001)
        },
      ),
    )
  })

  test.each([
    [503, '7', 7],
    [503, '3600', 10],
    [503, '1', 5],
    [503, 'Sat, 21 Nov 2026 09:00:08 GMT', 8],
    [503, 'soon', 5],
    [503, '-5', 5],
    [500, '8', 5],
    [429, '1', 5],
    [429, '0', 5],
    [429, '90', 90],
    [429, 'Sat, 21 Nov 2026 09:00:08 GMT', 8],
    [429, '9999999999', 86_400],
  ])('%d with Retry-After %p waits %d s the first time', (statusCode, retryAfter, expected) => {
    expect(seconds({ statusCode, retryAfter })).toBe(expected)
  })

  test.each([
    [null, false, 60],
    ['soon', false, 60],
    [null, true, 5],
    ['7', true, 7],
  ])('a 429 with Retry-After %p, own delays: %p, waits %d s', (retryAfter, ownDelays, expected) => {
    expect(seconds({ statusCode: 429, retryAfter, ownDelays })).toBe(expected)
  })

  test('a 429 late in the schedule waits for the longer of both', () => {
    expect(seconds({ statusCode: 429, attempt: 2 })).toBe(300)
    expect(seconds({ statusCode: 429, attempt: 2, retryAfter: '20' })).toBe(300)
    expect(seconds({ statusCode: 429, attempt: 2, retryAfter: '5000' })).toBe(5000)
  })

  test('never goes past retention', () => {
    expect(seconds({ retentionEndsAt: new Date(now.getTime() + 5001) })).toBe(5)
    expect(seconds({ retentionEndsAt: new Date(now.getTime() + 5000) })).toBeNull()
  })
})
