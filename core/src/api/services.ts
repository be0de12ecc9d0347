import type { Logger } from 'pino'
import type { CellPlace } from '../cells/index.ts'
import type { CapturedRequest } from '../engine/message/index.ts'
import type { PlanKey, Plans } from '../plans/index.ts'
import type { AccessTokens } from '../platform/accessTokens/index.ts'
import type { EndpointChanges } from '../platform/changes/index.ts'
import type { Db, Reads, Trx } from '../platform/db/index.ts'
import type { Mailer } from '../platform/mail/index.ts'
import type { Outbound } from '../platform/outbound/index.ts'
import type { Enqueue } from '../platform/queues.ts'
import type { SecretBox } from '../platform/secrets/index.ts'

/** The only source of the time of day in core. Tests set it by hand. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

/**
 * Offset of a process's clock from the machine's: 0, except in tests. Windows and expiry are computed from the
 * database's clock plus this offset, so that gateways with different clocks agree.
 */
export function aheadMs(clock: Clock): number {
  return clock.now().getTime() - Date.now()
}

/** Public addresses, without a trailing slash. */
export interface Urls {
  /** {base_url} of the API's description. */
  readonly baseUrl: string
  /** {capture_url} of the API's description. */
  readonly captureUrl: string
}

export type HandInResult =
  | { readonly state: 'stored'; readonly id: number }
  /** The endpoint is switched off, or has expired. */
  | { readonly state: 'gone' }
  /** Over the endpoint's capture rate. */
  | { readonly state: 'limited'; readonly retryAfterSeconds: number }
  /** The endpoint accepts verified captures only. */
  | { readonly state: 'unverified' }
  /** The endpoint does not accept captures from this sender. */
  | { readonly state: 'foreign' }
  /** Nothing can be stored now, or this process takes no captures. */
  | { readonly state: 'unavailable' }

/** Kinds of authors in the audit log. */
export const ACTOR_KINDS = ['key', 'session', 'operator', 'service'] as const

/** The author of a change, as the audit log records it. */
export interface Actor {
  readonly kind: (typeof ACTOR_KINDS)[number]
  /** Id of the key or the session; null for the others. */
  readonly id: string | null
  readonly name: string
  /** Address of the call; null when unknown, and for changes outside of calls. */
  readonly address: string | null
}

/** Services of one process for its whole life, built by the program's entry and passed to gateway and jobs. */
export interface Services {
  /** Actor of the process's own changes; in a call it is the caller. */
  readonly actor: Actor
  /** Retention of audit log entries. */
  readonly auditRetentionDays: number
  /** The cell that `db` is; null in an installation with one database. */
  readonly cell: CellPlace | null
  readonly db: Db
  /** Connections for scans that may take long; see `requests/searching.ts`. */
  readonly searches: Db
  /** Database for lists and searches: the replica, if there is one. */
  readonly reads: Reads
  readonly clock: Clock
  readonly log: Logger
  readonly plans: Plans
  /** Plan for workspaces created without one. */
  readonly defaultPlan: PlanKey
  /** Whether this is a relay: only some procedures exist, and nothing is sent to other servers. */
  readonly isRelay: boolean
  /** Limit of all captures together, in bytes; null for no limit. */
  readonly storageMaxBytes: number | null
  readonly secrets: SecretBox
  readonly urls: Urls
  /** Version of the program, for `User-Agent`. */
  readonly version: string
  /** Seconds between one attempt of a delivery and the next, before the jitter. */
  readonly retryDelaysSeconds: readonly number[]
  readonly enqueue: Enqueue
  /** The only outbound HTTP client: every request that we send goes through it. */
  readonly outbound: Outbound
  /** Access tokens of OAuth clients, for forwards. */
  readonly accessTokens: AccessTokens
  readonly mailer: Mailer
  /**
   * Base addresses of alert providers' APIs that differ from the public ones, by channel kind (`CREEL_ALERT_API_URLS`).
   */
  readonly alertApiUrls: Readonly<Partial<Record<string, string>>>
  /** Base addresses of senders' APIs that differ from the public ones, by provider (`CREEL_PROVIDER_API_URLS`). */
  readonly providerApiUrls: Readonly<Partial<Record<string, string>>>
  readonly endpointChanges: EndpointChanges
  /** Retries deliveries that rules of an action have held, now that none of them holds any more. */
  readonly releaseHeld: (trx: Trx, actionId: string) => Promise<void>
  /**
   * Captures a request as if it had arrived at the capture URL: it is evaluated, counted and dispatched alike. Never
   * rejects.
   */
  readonly handIn: (request: CapturedRequest, captureId: string) => Promise<HandInResult>
  /** Aborted when the process begins to stop: waiting calls then answer at once. */
  readonly stopping: AbortSignal
  /** Id of this process on its attempts, see `deliveries/workers.ts`; null if it makes none. */
  readonly workerId: number | null
}
