import type { AttemptState } from '../engine/words/index.ts'

/** Causes of a delivery or of one of its attempts. */
export const TRIGGERS = ['capture', 'retry', 'replay', 'bulkReplay', 'edited', 'rehearsal'] as const

export type Trigger = (typeof TRIGGERS)[number]

/** Facts about the end of an attempt that decide its state. */
export interface AttemptEnd {
  /** Null when nothing came back. */
  readonly statusCode: number | null
  /** Whether another attempt is scheduled. */
  readonly retried: boolean
  /** Whether the delivery can become a dead letter. An inline replay cannot: it is one attempt without a schedule. */
  readonly deadLetters: boolean
}

/** The state after an attempt. Only Interrupted is not decided here: the lease ended without a result, as the worker died. */
export function stateAfter({ statusCode, retried, deadLetters }: AttemptEnd): AttemptState {
  if (statusCode !== null && statusCode >= 200 && statusCode <= 299) return 'Succeeded'
  // Refused or without an answer on the last scheduled attempt, or 410.
  if (deadLetters && !retried) return 'DeadLetter'
  // Another attempt follows, or the delivery has no schedule.
  return statusCode === null ? 'Errored' : 'Failed'
}

/** Status of a receiver that wants no further attempt. */
export const GONE = 410

/**
 * Whether a retry follows an interrupted attempt. Such an attempt counts. If it was the last one, a single extra
 * attempt is allowed.
 *
 * @param retries number of attempts in the schedule after the first
 */
export function retriesAfterInterruption(attempt: number, retries: number): boolean {
  return attempt <= retries + 1
}
