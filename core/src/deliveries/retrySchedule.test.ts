import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isRetrySchedule, RETRY_DELAYS_SECONDS, retryDelaysOf, retryScheduleText } from './retrySchedule.ts'

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
})
