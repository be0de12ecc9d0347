import { expect } from 'bun:test'
import type { Findings } from './world.ts'

/** Expects that nothing was lost, duplicated or falsely answered, and that the service is healthy. */
export function expectNothingLost(findings: Findings): void {
  expect(findings).toEqual({
    acknowledgedCount: expect.any(Number),
    lost: [],
    storedTwice: [],
    undelivered: [],
    skippedByPoller: [],
    falseAnswers: [],
    counters: { kept: findings.counters.rows, rows: findings.counters.rows },
    isReady: true,
  })
}
