import type { AttemptState } from '../engine/words/index.ts'

/** Causes of a delivery or of one of its attempts. */
export const TRIGGERS = ['capture', 'retry', 'replay', 'bulkReplay', 'edited', 'rehearsal'] as const

/** One of {@link TRIGGERS}. */
export type Trigger = (typeof TRIGGERS)[number]

export type AttemptEvent =
  /** A 2xx. */
  | 'accepted'
  /** Any other status, and another attempt follows or the delivery has no schedule. */
  | 'refused'
  /** No response, or nothing was sent, and another attempt follows or the delivery has no schedule. */
  | 'errored'
  /** Refused or errored on the last scheduled attempt, or 410: the delivery becomes a dead letter. */
  | 'exhausted'
  /** The lease ended without a result: the worker died. */
  | 'leaseEnded'

/** Every transition between the states of an attempt. There are no others. */
export const TRANSITIONS: readonly { from: AttemptState; event: AttemptEvent; to: AttemptState }[] = [
  { from: 'Pending', event: 'accepted', to: 'Succeeded' },
  { from: 'Pending', event: 'refused', to: 'Failed' },
  { from: 'Pending', event: 'errored', to: 'Errored' },
  { from: 'Pending', event: 'exhausted', to: 'DeadLetter' },
  { from: 'Pending', event: 'leaseEnded', to: 'Interrupted' },
]

/** The state after an event; undefined when {@link TRANSITIONS} has no such transition. */
export function stateAfter(from: AttemptState, event: AttemptEvent): AttemptState | undefined {
  return TRANSITIONS.find((move) => move.from === from && move.event === event)?.to
}

/** Facts about the end of an attempt that decide its state. */
export interface AttemptEnd {
  /** Null when nothing came back. */
  readonly statusCode: number | null
  /** Whether another attempt is scheduled. */
  readonly retried: boolean
  /** Whether the delivery can become a dead letter. An inline replay cannot: it is one attempt without a schedule. */
  readonly deadLetters: boolean
}

export function eventOf({ statusCode, retried, deadLetters }: AttemptEnd): AttemptEvent {
  if (statusCode !== null && statusCode >= 200 && statusCode <= 299) return 'accepted'
  if (deadLetters && !retried) return 'exhausted'
  return statusCode === null ? 'errored' : 'refused'
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
