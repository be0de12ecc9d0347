import { expect, test } from 'bun:test'
import { nextSendAt } from './attempt.ts'
import { ATTEMPTS_MAX } from './queries.ts'

const now = new Date('2026-11-21T10:00:00.000Z')
const failed = {
  attempt: 1,
  attemptsMax: ATTEMPTS_MAX,
  isPermanent: false,
  statusCode: 500,
  retryAfter: null,
}

test('attempts come 30 s and 5 min after the first', () => {
  const second = nextSendAt(now, failed)
  expect(second?.toISOString()).toBe('2026-11-21T10:00:30.000Z')
  expect(nextSendAt(second ?? now, { ...failed, attempt: 2 })?.toISOString()).toBe('2026-11-21T10:05:00.000Z')
  expect(nextSendAt(now, { ...failed, attempt: 3 })).toBeNull()
})

test('a permanent refusal, and a place that gets one attempt, are not retried', () => {
  expect(nextSendAt(now, { ...failed, isPermanent: true })).toBeNull()
  expect(nextSendAt(now, { ...failed, attemptsMax: 1 })).toBeNull()
})
