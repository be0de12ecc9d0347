import type { AttemptState } from '../engine/words/index.ts'

/** What started a delivery, or made an attempt of it. */
export const TRIGGERS = ['capture', 'retry', 'replay', 'bulkReplay', 'edited'] as const

/** One of {@link TRIGGERS}. */
export type Trigger = (typeof TRIGGERS)[number]

/** What can happen to an attempt that is under way. */
export type AttemptEvent =
  /** A 2xx. */
  | 'accepted'
  /** Any other status, and there will be another attempt. */
  | 'refused'
  /** No response, or nothing was sent, and there will be another attempt or never was to be one. */
  | 'errored'
  /** Refused or errored on the last scheduled attempt, or 410: the delivery becomes a dead letter. */
  | 'exhausted'
  /** The visibility window passed without a result: the worker died. */
  | 'leaseEnded'

/** Every move between the states of an attempt. What is not here does not happen. */
export const TRANSITIONS: readonly { from: AttemptState; event: AttemptEvent; to: AttemptState }[] = [
  { from: 'Pending', event: 'accepted', to: 'Succeeded' },
  { from: 'Pending', event: 'refused', to: 'Failed' },
  { from: 'Pending', event: 'errored', to: 'Errored' },
  { from: 'Pending', event: 'exhausted', to: 'DeadLetter' },
  { from: 'Pending', event: 'leaseEnded', to: 'Interrupted' },
]

/** The state after an event; undefined when the event cannot happen to an attempt in that state. */
export function stateAfter(from: AttemptState, event: AttemptEvent): AttemptState | undefined {
  return TRANSITIONS.find((move) => move.from === from && move.event === event)?.to
}

/** How an attempt ended, as far as its state depends on it. */
export interface AttemptEnd {
  /** Null when nothing came back. */
  readonly statusCode: number | null
  /** Whether another attempt is scheduled. */
  readonly retried: boolean
  /** Whether the delivery belongs to the schedule; an inline replay is one attempt and never becomes a dead letter. */
  readonly deadLetters: boolean
}

/** What the end of an attempt means for its row. */
export function eventOf({ statusCode, retried, deadLetters }: AttemptEnd): AttemptEvent {
  if (statusCode !== null && statusCode >= 200 && statusCode <= 299) return 'accepted'
  if (deadLetters && !retried) return 'exhausted'
  return statusCode === null ? 'errored' : 'refused'
}

/** The status by which a receiver says that it wants no further attempt. */
export const GONE = 410

/**
 * An attempt that was cut off counts as one; when it was the last, one further try is allowed, once.
 *
 * @param retries how many attempts the schedule holds after the first
 */
export function retriesAfterInterruption(attempt: number, retries: number): boolean {
  return attempt <= retries + 1
}
