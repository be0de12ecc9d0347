import { describe, expect, test } from 'bun:test'
import { type HealthState, healthAfter } from './health.ts'

const now = new Date('2026-11-21T10:00:00Z')
const fresh: HealthState = {
  health: 'untested',
  lastSuccessAt: null,
  lastFailureAt: null,
  lastError: null,
  consecutiveFailures: 0,
}
const delivered = { delivered: true, permanent: false, detail: null }
const failed = { delivered: false, permanent: false, detail: 'HTTP 503' }
const rejected = { delivered: false, permanent: true, detail: 'no_service' }

describe('healthAfter', () => {
  test('any success verifies and starts the count anew', () => {
    const failing = { ...fresh, health: 'failing', consecutiveFailures: 7, lastError: 'x' } as const
    expect(healthAfter(failing, delivered, false, now)).toEqual({
      ...failing,
      health: 'verified',
      lastSuccessAt: now,
      consecutiveFailures: 0,
    })
  })

  test('three failed sends in a row make it failing, two do not', () => {
    const two = healthAfter(healthAfter(fresh, failed, false, now), failed, false, now)
    expect(two).toMatchObject({ health: 'untested', consecutiveFailures: 2, lastError: 'HTTP 503' })
    expect(healthAfter(two, failed, false, now).health).toBe('failing')
  })

  test('a permanent rejection and a rejected test make it failing at once', () => {
    expect(healthAfter(fresh, rejected, false, now).health).toBe('failing')
    expect(healthAfter(fresh, failed, true, now).health).toBe('failing')
  })

  test('a failure that may pass leaves a failing channel failing', () => {
    expect(healthAfter({ ...fresh, health: 'failing' }, failed, false, now).health).toBe('failing')
  })

  test('the error is kept to 300 characters', () => {
    const long = { ...failed, detail: 'x'.repeat(400) }
    expect(healthAfter(fresh, long, false, now).lastError).toHaveLength(300)
    // Whole ones.
    const wide = { ...failed, detail: `${'x'.repeat(298)}😀😀` }
    expect(healthAfter(fresh, wide, false, now).lastError).toBe(`${'x'.repeat(298)}…`)
  })
})
