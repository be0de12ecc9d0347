import type { EvaluatedRequest, Target, WireHeader } from '../engine/message/index.ts'
import type { Signing } from '../engine/signing/index.ts'
import type { Response, TlsIdentity } from '../platform/outbound/index.ts'
import type { DataKeyRef } from '../platform/secrets/index.ts'
import type { RuleEnd, RuleSet, RulesApplied } from '../transformations/index.ts'
import type { ForwardAuth } from './auth.ts'
import type { DeliveryPolicy } from './policy.ts'
import type { Trigger } from './states.ts'

/** Default time limit of a whole attempt. */
export const TIMEOUT_SECONDS = 15
/** Length of a lease in time limits: an attempt may wait three of them for a connection, and is recorded afterwards. */
export const LEASE_TIMEOUTS = 6
/** Shortest lease of a claimed attempt. It is longer if the action's time limit is longer. */
export const LEASE_SECONDS = LEASE_TIMEOUTS * TIMEOUT_SECONDS

/** A claimed attempt: its row is Pending, and the process that holds this object makes it. */
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
  /** The request as it is stored, if `request` is its original. The record of the attempt shows this. */
  readonly stored?: EvaluatedRequest
  /** The key that seals the record of the attempt, as it seals the request; null without. */
  readonly sealing: DataKeyRef | null
  /** The action's rules as they were when the attempt began. */
  readonly rules: RuleSet
  readonly startedAt: Date
  readonly leaseUntil: Date
  /** No attempt is made at or after this. */
  readonly retentionEndsAt: Date
  /** Why the attempt ends unsent, decided when it was claimed; null if it is sent. */
  readonly refusal: Refusal | null
  /** Id of the replay of many requests that it belongs to. */
  readonly rehearsalId?: string
}

/** The forward action as it was when the attempt began. */
export interface ForwardAction extends Target {
  readonly id: string
  readonly name: string
  readonly signing: Signing
  /** Null without credentials. */
  readonly auth: ForwardAuth | null
  /** Null if it has neither a client certificate nor its own certificate authority. */
  readonly tls: TlsIdentity | null
  readonly policy: DeliveryPolicy
  /** Whether its lane has a pace, an order or a breaker, is paused or drained. */
  readonly isGoverned: boolean
}

/** Error of a request whose path would lead out of the base path of its destination. */
export const UNSAFE_PATH = 'unsafe_path: the captured path would leave the base path of the destination'

/** Code of an attempt whose message HTTP/1.1 cannot carry, as a CONNECT. It shows only when it is sent. */
export const UNSENDABLE = 'unsendable'

/** Reasons to end a delivery without sending. No attempt follows, and it does not become a dead letter. */
export type Refusal =
  | 'oversize'
  | 'original_gone'
  | 'shredded'
  | 'loop'
  | 'action_off'
  | 'channel_unavailable'
  | typeof UNSAFE_PATH

export interface AttemptResult {
  /** Null for a 2xx; else a stable code, with details after a colon where there are any. */
  readonly error: string | null
  /** Null when nothing was sent. */
  readonly sent: SentMessage | null
  /** Null when nothing came back. */
  readonly received: Pick<Response, 'statusCode' | 'headers' | 'body' | 'bodyTruncated'> | null
  readonly finishedAt: Date
  readonly durationMs: number
  /** Effect of the transformation rules. */
  readonly rules: RulesApplied
  /** How each rule that ran has ended. A rule that faults too often is switched off by this. */
  readonly ruleEnds: readonly RuleEnd[]
}

export interface Ended {
  readonly attempt: Attempt
  readonly result: AttemptResult
}

export const hasSucceeded = ({ result }: Pick<Ended, 'result'>): boolean => result.error === null

/** The code of an attempt's error, without details. */
export const errorCodeOf = ({ result }: Pick<Ended, 'result'>): string | null =>
  result.error?.split(':', 1)[0] ?? null

/** Whether an attempt was refused, when it was claimed or when it was to be sent: no other one would do better. */
export const wasRefused = (ended: Ended): boolean =>
  ended.attempt.refusal !== null || errorCodeOf(ended) === UNSENDABLE

/** The facts of an ended attempt that an incident of its action shows. */
export const occasionOf = ({ attempt, result }: Ended) => ({
  workspaceId: attempt.workspaceId,
  subject: attempt.action,
  endpoint: attempt.endpoint,
  requestId: attempt.requestId,
  reason: errorCodeOf({ result }),
})

/** A message that was sent, or would have been. */
export interface SentMessage {
  readonly method: string
  readonly url: string
  /** As on the wire. */
  readonly headers: readonly WireHeader[]
  /** Headers that Creel itself wrote: neither the sender nor a rule did. */
  readonly own: readonly WireHeader[]
  readonly body: Uint8Array
  /** Whether the body is the captured one, unchanged. The record need not hold it twice. */
  readonly bodyIsCaptured: boolean
}
