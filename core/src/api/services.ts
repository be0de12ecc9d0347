import type { Logger } from 'pino'
import type { CapturedRequest } from '../engine/message/index.ts'
import type { PlanKey, Plans } from '../plans/index.ts'
import type { EndpointChanges } from '../platform/changes/index.ts'
import type { Db, Reads } from '../platform/db/index.ts'
import type { Mailer } from '../platform/mail/index.ts'
import type { Outbound } from '../platform/outbound/index.ts'
import type { Enqueue } from '../platform/queues.ts'
import type { SecretBox } from '../platform/secrets/index.ts'

/** The only source of the time of day in core. Tests turn it by hand. */
export interface Clock {
  now(): Date
}

/** The wall clock. */
export const systemClock: Clock = { now: () => new Date() }

/**
 * How far a process's clock is set ahead of the machine's: 0, but in tests, which turn theirs. Windows and expiry go by the
 * database's clock and this, so that gateways whose clocks differ agree.
 */
export function aheadMs(clock: Clock): number {
  return clock.now().getTime() - Date.now()
}

/** Public addresses, without a trailing slash. */
export interface Urls {
  /** {base_url} of the spec. */
  readonly baseUrl: string
  /** {capture_url} of the spec. */
  readonly captureUrl: string
}

/** What became of a request that was handed in to be captured. */
export type HandInResult =
  /** Committed. */
  | { readonly state: 'stored'; readonly id: number }
  /** The endpoint is switched off, or has expired. */
  | { readonly state: 'gone' }
  /** Over the endpoint's capture rate. */
  | { readonly state: 'limited'; readonly retryAfterSeconds: number }
  /** The endpoint takes verified captures only. */
  | { readonly state: 'unverified' }
  /** The endpoint takes nothing from this sender. */
  | { readonly state: 'foreign' }
  /** Nothing can be stored now, or this process takes no captures. */
  | { readonly state: 'unavailable' }

/** Who may change something. */
export const ACTOR_KINDS = ['key', 'session', 'operator', 'service'] as const

/** Who changes something, as the audit log names it. */
export interface Actor {
  readonly kind: (typeof ACTOR_KINDS)[number]
  /** Of the key or the session; null for the others. */
  readonly id: string | null
  readonly name: string
  /** Where the call came from; null where nobody knows, and for what did not come by a call. */
  readonly address: string | null
}

/** What one process holds for its whole life, built by the program's entry and handed to gateway and jobs. */
export interface Services {
  /** Who changes what this process changes by itself; in a call it is the caller. */
  readonly actor: Actor
  /** For so long entries of the audit log are kept. */
  readonly auditRetentionDays: number
  readonly db: Db
  /** Connections for scans that a caller can make long; see `requests/searching.ts`. */
  readonly searches: Db
  /** Where lists and searches run: on a replica, where there is one. */
  readonly reads: Reads
  readonly clock: Clock
  readonly log: Logger
  readonly plans: Plans
  /** Of a workspace that is made without a word of its plan. */
  readonly defaultPlan: PlanKey
  /** What captures may take in all; null without a bound. */
  readonly storageMaxBytes: number | null
  readonly secrets: SecretBox
  readonly urls: Urls
  /** Of the program: what it calls itself in `User-Agent`. */
  readonly version: string
  /** Seconds between one attempt of a delivery and the next, before the jitter. */
  readonly retryDelaysSeconds: readonly number[]
  readonly enqueue: Enqueue
  /** The one way out: every request that we send goes through it. */
  readonly outbound: Outbound
  readonly mailer: Mailer
  /** Base addresses of alert providers' APIs that differ from the public ones, by channel kind (`CREEL_ALERT_API_URLS`). */
  readonly alertApiUrls: Readonly<Partial<Record<string, string>>>
  readonly endpointChanges: EndpointChanges
  /** Captures a request as if it had come to the capture URL: evaluated, counted and acted upon alike. Never rejects. */
  readonly handIn: (request: CapturedRequest, captureId: string) => Promise<HandInResult>
  /** Aborted when the process begins to stop: calls that wait for something answer at once. */
  readonly stopping: AbortSignal
  /** What attempts of this process are marked with, see `deliveries/workers.ts`; null where none are made. */
  readonly workerId: number | null
}
