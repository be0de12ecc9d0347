import type { EvaluatedCapture } from './evaluateCapture.ts'

/** Outcome of a capture, as the answer to its sender needs it. */
export type CaptureResult =
  /** Committed. `capture` has the answer. */
  | {
      readonly state: 'stored'
      readonly id: number | null
      /** The first request of its event, if the capture is a duplicate whose actions do not run. */
      readonly skippedFor: number | null
      readonly capture: EvaluatedCapture
    }
  /** A duplicate that is counted and not stored. It is answered like the first. */
  | { readonly state: 'discarded'; readonly duplicateOf: number; readonly capture: EvaluatedCapture }
  /** No endpoint takes the capture: 404. */
  | { readonly state: 'gone' }
  /** Over the endpoint's capture rate: 429. */
  | { readonly state: 'limited'; readonly retryAfterSeconds: number }
  /** The endpoint takes verified captures only: 401. */
  | { readonly state: 'unverified' }
  /** The endpoint does not allow this sender: 403. */
  | { readonly state: 'foreign' }
  /** PostgreSQL cannot store now, or too many captures wait for evaluation: 503. */
  | { readonly state: 'unavailable'; readonly retryAfterSeconds?: number }

/** A committed capture, which is answered now. */
export type AnsweredCapture = Extract<CaptureResult, { state: 'stored' | 'discarded' }>
