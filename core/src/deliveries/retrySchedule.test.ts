import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type FailedTry, nextAttemptAt, RETRY_DELAYS_SECONDS, TRIES_MAX } from './retrySchedule.ts'

const now = new Date('2026-11-21T09:00:00.000Z')
const failed = (more: Partial<FailedTry> = {}): FailedTry => ({
  now,
  attempt: 1,
  statusCode: 500,
  retryAfter: null,
  retentionEndsAt: new Date('2027-01-01'),
  ...more,
})
const seconds = (more: Partial<FailedTry>, random = 0.5) => {
  const at = nextAttemptAt(failed(more), random)
  return at === null ? null : (at.getTime() - now.getTime()) / 1000
}

describe('nextAttemptAt', () => {
  test('waits 5 s, 5 min, 30 min, 2 h, 5 h and 10 h, then no more', () => {
    const delays = Array.from({ length: TRIES_MAX }, (_, at) => seconds({ attempt: at + 1 }))
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
    [429, null, 60],
    [429, '90', 60],
  ])('%d with Retry-After %p waits %d s the first time', (statusCode, retryAfter, expected) => {
    expect(seconds({ statusCode, retryAfter })).toBe(expected)
  })

  test('a 429 late in the schedule may ask for up to twice the delay', () => {
    expect(seconds({ statusCode: 429, attempt: 2, retryAfter: '500' })).toBe(500)
    expect(seconds({ statusCode: 429, attempt: 2, retryAfter: '5000' })).toBe(600)
  })

  test('never goes past retention', () => {
    expect(seconds({ retentionEndsAt: new Date(now.getTime() + 5001) })).toBe(5)
    expect(seconds({ retentionEndsAt: new Date(now.getTime() + 5000) })).toBeNull()
  })
})
