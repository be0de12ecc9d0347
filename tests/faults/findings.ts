import { expect } from 'bun:test'
import type { Findings } from './world.ts'

/** What every fault must leave behind: nothing lost, nothing twice, nothing false, and a service that is well. */
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
