import type { Command } from 'commander'
import type { CapturedRequest, WholeRequest } from 'creel-client'

/** Variables by their names, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A service on this machine with a data folder that the user may read. */
export interface LocalService {
  readonly url: string
  readonly dataDir: string
  /** The file with the service's address, in the data folder. */
  readonly file: string
}

/** A service that a developer's command runs in its own process. */
export interface QuickService {
  readonly url: string
  readonly dataDir: string
  /** Resolves when a signal asks the process to stop, with its exit code. */
  readonly stopAsked: Promise<number>
  /** Drains the service and stops it. */
  close(): Promise<void>
}

/** A field of a message on the wire; the value is a latin1 byte string. */
type Field = readonly [name: string, value: string]

/** The part of a captured request that is appended to a target. */
export interface CapturedTarget {
  /** Empty, or begins with a slash. */
  readonly path: string
  /** Without the question mark. */
  readonly queryString: string | null
}

/** Sends requests byte for byte. */
export interface LocalOutbound {
  /** Sends one request. Follows no redirect, never throws. `outcome` is `response`, or a word for what went wrong. */
  send(request: {
    readonly method: string
    readonly url: string
    readonly headers: readonly Field[]
    readonly body: Uint8Array
    readonly totalTimeoutMs: number
    readonly signal?: AbortSignal | undefined
  }): Promise<
    { readonly sentHeaders: readonly Field[]; readonly durationMs: number } & (
      | {
          readonly outcome: 'response'
          readonly statusCode: number
          readonly headers: readonly Field[]
          readonly body: Uint8Array
        }
      | {
          readonly outcome: string
          readonly detail: string
          /** The connection ended before any part of an answer. */
          readonly isUnanswered?: boolean
        }
    )
  >
  /**
   * The URL of a captured request, by the rules of the service's forwards. Host, port and base path are always those of
   * the target.
   *
   * @returns undefined when a server might read its path as leading out of the base path (`..` in any encoding)
   */
  urlOf(target: string, captured: CapturedTarget): string | undefined
  close(): Promise<void>
}

/** Functions of the program around the terminal, which alone has the service's code. */
export interface TerminalTools {
  /**
   * Builds the whole command line, for help and completion.
   *
   * @param only the one command whose options and subcommands are needed; undefined: all commands
   */
  readonly whole: (only?: string) => Promise<Command>
  /** The data folder that the environment selects, as an absolute path; it need not exist. */
  readonly ownDataFolder: (environment: Environment) => string
  /** The services that answer on this machine, the one of the selected data folder first. */
  readonly localServices: (environment: Environment) => AsyncIterable<LocalService>
  /** The key that an earlier command stored for a local service, and its file. */
  readonly keptKey: (dataDir: string) => Promise<{ key: string | undefined; file: string }>
  /**
   * Creates a key for a local service and stores it in its data folder.
   *
   * @throws ClientError when the service has no workspace; the errors of the operator's procedures
   */
  readonly renewLocalKey: (dataDir: string) => Promise<string>
  /** A link that signs in once, as the owner of a workspace of a local service. */
  readonly localSignInLink: (dataDir: string, workspace: string) => Promise<string>
  /** Starts a service in this process, for the duration of a command. */
  readonly startQuickService: (
    environment: Environment,
    options: { readonly logLevel: 'warn' | 'fatal'; readonly handlesSignals: boolean },
  ) => Promise<QuickService>
  /**
   * Parses a condition of the API's language, to be evaluated by the same code as in the service.
   *
   * @throws ClientError naming every invalid part
   */
  readonly readCondition: (text: string) => Promise<(request: WholeRequest) => boolean>
  /**
   * A curl command that sends a request again, in the form of an export.
   *
   * @throws ClientError when a shell would obey a part of it
   */
  readonly curlCommand: (request: WholeRequest, url: string) => Promise<string>
  /** The body of a request as it is read, if it arrived with a `Content-Encoding`. */
  readonly decodedBody: (request: WholeRequest) => Promise<CapturedRequest['decodedBody']>
  /** Opens a sender for the user's own machine. */
  readonly openOutbound: (trustsAnyCertificate: boolean) => Promise<LocalOutbound>
}

/** Captured headers as they were sent. */
export function fieldsAsSent(headers: WholeRequest['rawHeaders']): Field[] {
  return headers.map(({ name, value, encoding }) => [
    name,
    encoding === 'latin1' ? value : Buffer.from(value, 'utf8').toString('latin1'),
  ])
}
