import type { Clock, OpenDatabase, Plans } from '@creel/core'
import type { CellPlace } from '@creel/core/cells'
import type { PlanKey } from '@creel/core/plans'
import type { MailerOptions } from '@creel/core/platform/mail'
import type { GatewayOptions, HttpLimits, SharedCounts } from '@creel/gateway'
import type { Clock as JobClock } from 'pg-boss'
import type { Logger } from 'pino'

/** Which half of the service a process runs. */
export type ServicePart = 'gateway' | 'jobs'

/** Default retention of audit log entries. */
export const AUDIT_RETENTION_DAYS = 365

/** State of the gateway processes of a program. */
export interface ProcessStates {
  readonly running: number
  /** Running processes that are not ready, or do not answer. */
  readonly unready: number
}

/** The gateway processes of one program, as one of them sees it. They share the port and divide or share every limit. */
export interface GatewayProcesses {
  /** Their counts of what is limited for all of them. `processes` says how many there are. */
  readonly counts: SharedCounts
  /** Whether this is the process that the user started. It reads the figures of the database for all. */
  readonly isFirst: boolean
  /**
   * The metrics of all processes together, in Prometheus' text format. In the first process its own are read at once.
   *
   * @throws Error when a process does not answer
   */
  metrics(): Promise<string>
  /** @throws Error when the first process does not answer */
  states(): Promise<ProcessStates>
}

type PassedOn =
  | 'cells'
  | 'consolePack'
  | 'formerHosts'
  | 'hasConsole'
  | 'hasOAuth'
  | 'metricsToken'
  | 'trustedProxies'
  | 'warmsUp'

/** Dependencies of a running service, decoded and opened by its caller. */
export interface ServiceOptions extends Pick<GatewayOptions, PassedOn> {
  readonly database: OpenDatabase
  /** A read-only replica of it, for lists and searches; none by default. Its opener closes it. */
  readonly replica?: OpenDatabase | undefined
  /** The cell that the database is; none in an installation with one database. */
  readonly cell?: CellPlace | undefined
  /** The same database, for connections outside the pool: the queue and LISTEN. Migrated already. */
  readonly databaseUrl: string
  readonly parts: ReadonlySet<ServicePart>
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  /** {base_url} and {capture_url}; undefined: derived from host and port. */
  readonly baseUrl: string | undefined
  readonly captureUrl: string | undefined
  /** Port that serves `/metrics`, next to health; then `port` does not serve it. 0 = any free port. */
  readonly metricsPort?: number | undefined
  /** 32 bytes. */
  readonly secretKey: Uint8Array
  /** Keys of secrets that are not resealed yet, newest first. */
  readonly formerSecretKeys?: readonly Uint8Array[]
  readonly plans: Plans
  /** Plan for workspaces created without one; `team` by default. */
  readonly defaultPlan?: PlanKey
  /** Limit of all captures together, in bytes; null, the default: no limit. */
  readonly storageMaxBytes?: number | null
  readonly allowDestinations: readonly string[]
  /** Settings of alert mail; without `smtpUrl` the history says that it was not sent. */
  readonly mail: MailerOptions
  /** Base addresses of alert providers' APIs that differ from the public ones, by channel kind. */
  readonly alertApiUrls: Readonly<Partial<Record<string, string>>>
  /** Base addresses of senders' APIs that differ from the public ones, by provider. */
  readonly providerApiUrls?: Readonly<Partial<Record<string, string>>>
  /** Seconds between one attempt of a delivery and the next, before the jitter; the shipped schedule by default. */
  readonly retryDelaysSeconds?: readonly number[] | undefined
  /** Whether this is a relay: strangers get endpoints, and nothing is sent to other servers. False by default. */
  readonly isRelay?: boolean
  /** The gateway processes of the program; this one alone by default. */
  readonly processes?: GatewayProcesses | undefined
  /** Overrides of the usual limits of connections. */
  readonly connectionLimits?: Partial<HttpLimits>
  /** Retention of audit log entries; a year by default. */
  readonly auditRetentionDays?: number
  /** Limit of the job queue's own connections; 6 by default, in a process that works. */
  readonly queueConnections?: number
  /** False: neither deliveries nor alerts are sent; they wait in their queues. True by default. */
  readonly dispatches?: boolean
  readonly log: Logger
  readonly clock: Clock
  /** The clock of the job queue; the system's by default. */
  readonly jobClock?: JobClock
  /** Shown in the API's description, and sent as `User-Agent`. */
  readonly version: string
}
