import { expect, test } from 'bun:test'
import { ATTEMPTS_MAX, nextAttemptAt } from './attempts.ts'

const now = new Date('2026-11-21T10:00:00.000Z')

test('attempts come 30 s and 5 min after the first', () => {
  const second = nextAttemptAt(now, 1, ATTEMPTS_MAX, false)
  expect(second?.toISOString()).toBe('2026-11-21T10:00:30.000Z')
  expect(nextAttemptAt(second ?? now, 2, ATTEMPTS_MAX, false)?.toISOString()).toBe('2026-11-21T10:05:00.000Z')
  expect(nextAttemptAt(now, 3, ATTEMPTS_MAX, false)).toBeNull()
})

test('a permanent refusal, and a place that gets one attempt, are not retried', () => {
  expect(nextAttemptAt(now, 1, ATTEMPTS_MAX, true)).toBeNull()
  expect(nextAttemptAt(now, 1, 1, false)).toBeNull()
})
