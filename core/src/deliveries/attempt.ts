import type { EvaluatedRequest, WireHeader } from '../engine/message/index.ts'
import type { Signing } from '../engine/signing/index.ts'
import type { Response, TlsIdentity } from '../platform/outbound/index.ts'
import type { RuleEnd, RuleSet, RulesApplied } from '../transformations/index.ts'
import type { ForwardAuth } from './auth.ts'
import type { DeliveryPolicy } from './policy.ts'
import type { RecoveryJob } from './recoveryJob.ts'
import type { Trigger } from './states.ts'

/** The time limit of a whole attempt unless its action says otherwise. */
export const TIMEOUT_SECONDS = 15
/** A lease is so many times the time limit: an attempt may wait three rounds for a connection, and is recorded afterwards. */
export const LEASE_TIMEOUTS = 6
/** How long a claimed attempt may take until it counts as interrupted, unless its action has a longer time limit. */
export const LEASE_SECONDS = LEASE_TIMEOUTS * TIMEOUT_SECONDS

/** An attempt that was claimed: its row is Pending, and whoever holds this makes it. */
export interface Attempt {
  readonly id: number
  /** Null for an inline replay. */
  readonly deliveryId: number | null
  readonly attemptNumber: number
  readonly trigger: Trigger
  readonly workspaceId: string
  readonly endpoint: { readonly id: string; readonly name: string; readonly captureId: string }
  readonly action: ForwardAction
  readonly requestId: number
  readonly request: EvaluatedRequest
  /** The destination's rules as they were when the attempt began. */
  readonly rules: RuleSet
  readonly startedAt: Date
  readonly leaseUntil: Date
  /** No attempt is made at or after this. */
  readonly retentionEndsAt: Date
  /** Its delivery waits in the flow of its action between attempts, and not as a job. */
  readonly inFlow: boolean
  /** Why nothing is to be sent, decided when it was claimed. */
  readonly refusal: Refusal | null
  /** The job that recovers it should it be left without a result; null where only `deliveries.sweep` does. */
  readonly recoveryJob: RecoveryJob | null
}

/** The forward action as it was when the attempt began. */
export interface ForwardAction {
  readonly id: string
  readonly name: string
  readonly url: string
  /** Whether the captured path suffix follows the URL's path. */
  readonly appendPath: boolean
  /** Whether the captured query follows the URL's query. */
  readonly appendQuery: boolean
  readonly signing: Signing
  /** Null without credentials. */
  readonly auth: ForwardAuth | null
  /** Null without a client certificate and an authority of its own. */
  readonly tls: TlsIdentity | null
  readonly policy: DeliveryPolicy
  /** Its deliveries wait in its flow, which keeps their order and pace. */
  readonly isGoverned: boolean
}

/** Ends of a delivery that were decided without sending: no attempt follows, and nothing becomes a dead letter. */
export type Refusal = 'oversize' | 'loop' | 'action_off' | 'channel_unavailable'

/** What became of an attempt. */
export interface AttemptResult {
  /** Null when it was a 2xx; else a stable word, and sometimes more after a colon. */
  readonly error: string | null
  /** Null when nothing was sent. */
  readonly sent: SentMessage | null
  /** Null when nothing came back. */
  readonly received: Pick<Response, 'statusCode' | 'headers' | 'body' | 'bodyTruncated'> | null
  readonly finishedAt: Date
  readonly durationMs: number
  /** What the transformation rules did. */
  readonly rules: RulesApplied
  /** How each rule that ran has ended: what switching a faulty one off is counted from. */
  readonly ruleEnds: readonly RuleEnd[]
}

/** What went out, or would have. */
export interface SentMessage {
  readonly method: string
  readonly url: string
  /** As on the wire. */
  readonly headers: readonly WireHeader[]
  readonly body: Uint8Array
  /** The captured bytes, untouched: the record need not hold them twice. */
  readonly bodyIsCaptured: boolean
}
