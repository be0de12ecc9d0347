import { expect, test } from 'bun:test'
import { nextTryAt, TRIES_MAX } from './tries.ts'

const now = new Date('2026-11-21T10:00:00.000Z')

test('tries come 30 s and 5 min after the first', () => {
  const second = nextTryAt(now, 1, TRIES_MAX, false)
  expect(second?.toISOString()).toBe('2026-11-21T10:00:30.000Z')
  expect(nextTryAt(second ?? now, 2, TRIES_MAX, false)?.toISOString()).toBe('2026-11-21T10:05:00.000Z')
  expect(nextTryAt(now, 3, TRIES_MAX, false)).toBeNull()
})

test('a permanent refusal, and a place that gets one try, are not tried again', () => {
  expect(nextTryAt(now, 1, TRIES_MAX, true)).toBeNull()
  expect(nextTryAt(now, 1, 1, false)).toBeNull()
})
