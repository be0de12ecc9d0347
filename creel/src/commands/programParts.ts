import type { RuntimeSource } from '../embeddedPostgres/index.ts'

/** What differs between the checkout and the single executable. */
export interface ProgramParts {
  /** Where the embedded PostgreSQL comes from; undefined: the installed npm package. */
  readonly runtime: RuntimeSource | undefined
  /** Reads the console's files, packed; undefined: there are none, and the service is without its pages. */
  readonly consolePack?: (() => Promise<Uint8Array | undefined>) | undefined
  /** A reason to drain besides signals, in words. */
  readonly stopWhen?: Promise<string>
}
