import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type FailedAttempt, nextAttemptAt, type RetrySchedule } from './retryPolicy.ts'

const now = new Date('2026-11-21T09:00:00.000Z')
const SCHEDULE: RetrySchedule = { delaysSeconds: [5, 300, 1800], jitter: 0.2, tooManyRequestsSeconds: 60 }

/** Seconds until the next attempt; null for none. */
function seconds(
  failed: Partial<FailedAttempt>,
  random = 0.5,
  schedule: Partial<RetrySchedule> = {},
): number | null {
  const whole = { now, attempt: 1, statusCode: 500, retryAfter: null, ...failed }
  const at = nextAttemptAt(whole, { ...SCHEDULE, ...schedule }, random)
  return at === null ? null : (at.getTime() - now.getTime()) / 1000
}

const delays = fc.array(fc.integer({ min: 1, max: 30 * 86_400 }), { minLength: 1, maxLength: 8 })
const jitter = fc.double({ min: 0, max: 1, noNaN: true })
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const statusCode = fc.constantFrom(null, 400, 429, 500, 503)
const asked = fc.integer({ min: 0, max: 100_000 })

test('there are as many attempts as delays, and one more', () => {
  const made = Array.from({ length: 4 }, (_, at) => seconds({ attempt: at + 1 }))
  expect(made).toEqual([5, 300, 1800, null])
})

test('a delay stays within its jitter, and is longer for a larger random number', () => {
  fc.assert(
    fc.property(delays, jitter, random, random, (delaysSeconds, share, a, b) => {
      for (const [at, delay] of delaysSeconds.entries()) {
        const wait = (value: number) =>
          seconds({ attempt: at + 1 }, value, { delaysSeconds, jitter: share }) ?? Number.NaN
        expect(wait(a)).toBeGreaterThanOrEqual(delay * (1 - share) - 0.001)
        expect(wait(a)).toBeLessThanOrEqual(delay * (1 + share) + 0.001)
        expect(wait(Math.max(a, b))).toBeGreaterThanOrEqual(wait(Math.min(a, b)))
      }
    }),
  )
})

test('a receiver that asks for more time never gets less, and on a 429 it gets all of it', () => {
  fc.assert(
    fc.property(statusCode, random, asked, asked, (status, value, a, b) => {
      const wait = (ask: number) =>
        seconds({ statusCode: status, retryAfter: String(ask) }, value) ?? Number.NaN
      expect(wait(Math.max(a, b))).toBeGreaterThanOrEqual(wait(Math.min(a, b)))
      if (status === 429) expect(wait(a)).toBeGreaterThanOrEqual(Math.min(86_400, a))
      if (status === 503) expect(wait(a)).toBeLessThanOrEqual(10)
    }),
  )
})

describe('Retry-After', () => {
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
    [429, null, 60],
    [429, 'soon', 60],
    [429, '-5', 60],
    [429, '90.5', 90.5],
    [503, '7.5', 7.5],
  ])('%d with %p waits %d s the first time', (status, retryAfter, expected) => {
    expect(seconds({ statusCode: status, retryAfter })).toBe(expected)
  })

  test('with a date that names no zone is in GMT, wherever the process runs', () => {
    const { TZ } = process.env
    process.env.TZ = 'America/New_York'
    try {
      expect(seconds({ statusCode: 429, retryAfter: 'Sat Nov 21 09:00:08 2026' })).toBe(8)
      expect(seconds({ statusCode: 429, retryAfter: 'Sat, 21 Nov 2026 04:00:08 -0500' })).toBe(8)
    } finally {
      if (TZ === undefined) delete process.env.TZ
      else process.env.TZ = TZ
    }
  })

  test('late in the schedule waits for the longer of both', () => {
    expect(seconds({ statusCode: 429, attempt: 2 })).toBe(300)
    expect(seconds({ statusCode: 429, attempt: 2, retryAfter: '20' })).toBe(300)
    expect(seconds({ statusCode: 429, attempt: 2, retryAfter: '5000' })).toBe(5000)
  })

  test('has no least delay unless the schedule says one', () => {
    const { delaysSeconds } = SCHEDULE
    expect(
      nextAttemptAt({ now, attempt: 1, statusCode: 429, retryAfter: null }, { delaysSeconds, jitter: 0 }),
    ).toEqual(new Date(now.getTime() + 5000))
  })
})

test('no attempt is made at the end or after it', () => {
  expect(seconds({ endsAt: new Date(now.getTime() + 5001) })).toBe(5)
  expect(seconds({ endsAt: new Date(now.getTime() + 5000) })).toBeNull()
})
