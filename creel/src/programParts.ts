import type { RuntimeSource } from './embeddedPostgres/index.ts'

/** Differences between the checkout and the single executable. */
export interface ProgramParts {
  /** Source of the embedded PostgreSQL; undefined: the installed npm package. */
  readonly runtime: RuntimeSource | undefined
  /** Loads the console's pack. Undefined if there is none; then the service has no console pages. */
  readonly consolePack?: (() => Promise<Uint8Array<ArrayBuffer> | undefined>) | undefined
  /** Command that starts `creel serve` of this program in another process. Undefined: one gateway process at most. */
  readonly serveWords?: readonly string[]
  /** The command line of this program, as its user types it. Undefined: `creel`. */
  readonly command?: string
  /** A further reason to drain, as text; signals are the usual one. */
  readonly stopWhen?: Promise<string>
}
