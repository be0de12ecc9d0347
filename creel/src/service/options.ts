import type { Clock, OpenDatabase, Plans } from '@creel/core'
import type { PlanKey } from '@creel/core/plans'
import type { MailerOptions } from '@creel/core/platform/mail'
import type { HttpLimits } from '@creel/gateway'
import type { Clock as JobClock } from 'pg-boss'
import type { Logger } from 'pino'

/** Which half of the service a process runs. */
export type ServicePart = 'gateway' | 'jobs'

/** Entries of the audit log are kept for so long unless told. */
export const AUDIT_RETENTION_DAYS = 365

/** Everything that a running service depends on, decoded and opened by who starts it. */
export interface ServiceOptions {
  readonly database: OpenDatabase
  /** A read-only replica of it, for lists and searches; none by default. Its opener closes it. */
  readonly replica?: OpenDatabase | undefined
  /** The same database, for connections outside the pool: the queue and LISTEN. Migrated already. */
  readonly databaseUrl: string
  readonly parts: ReadonlySet<ServicePart>
  readonly host: string
  /** 0 = any free one. */
  readonly port: number
  /** {base_url} and {capture_url}; undefined: made of host and port. */
  readonly baseUrl: string | undefined
  readonly captureUrl: string | undefined
  /** Hosts that answer 301 to {base_url}; none by default. */
  readonly formerHosts?: readonly string[]
  /** `/metrics` is served here, beside health, and no longer on `port`; 0 = any free one. */
  readonly metricsPort?: number | undefined
  /** 32 bytes. */
  readonly secretKey: Uint8Array
  /** Keys that sealed what is not sealed anew yet, newest first. */
  readonly formerSecretKeys?: readonly Uint8Array[]
  readonly plans: Plans
  /** Of a workspace that is made without a word of its plan; `team` by default. */
  readonly defaultPlan?: PlanKey
  /** What captures may take in all, in bytes; null, the default: no bound. */
  readonly storageMaxBytes?: number | null
  readonly allowDestinations: readonly string[]
  /** Where alert mail goes out; without `smtpUrl` the history says that it was not sent. */
  readonly mail: MailerOptions
  /** Base addresses of alert providers' APIs that differ from the public ones, by channel kind. */
  readonly alertApiUrls: Readonly<Partial<Record<string, string>>>
  /** Seconds between one attempt of a delivery and the next, before the jitter; the shipped schedule by default. */
  readonly retryDelaysSeconds?: readonly number[] | undefined
  /** CIDRs whose `X-Forwarded-For` counts; none by default. */
  readonly trustedProxies?: readonly string[]
  /** Whether browsers can sign in; true by default. */
  readonly hasConsole?: boolean
  /** The console's files, packed; without them only its API is served. */
  readonly consolePack?: Uint8Array | undefined
  /** Laid over the usual limits of connections. */
  readonly connectionLimits?: Partial<HttpLimits>
  /** For so long entries of the audit log are kept; a year by default. */
  readonly auditRetentionDays?: number
  /** The most connections of the job queue's own; 6 by default, in a process that works. */
  readonly queueConnections?: number
  /** False: nothing is sent, neither deliveries nor alerts; they wait in their queues. True by default. */
  readonly dispatches?: boolean
  readonly log: Logger
  readonly clock: Clock
  /** The clock of the job queue, where it is not the system's. */
  readonly jobClock?: JobClock
  /** Shown in the API's description, and sent as `User-Agent`. */
  readonly version: string
}
