import type { ExportedRequest } from '../exportedRequest.ts'

/** One way to write a request down. */
export interface Format {
  readonly contentType: string
  /** Of the file that it is saved as, without the full stop. */
  readonly extension: string
  /** What it is, for people. */
  readonly about: string
  readonly write: (request: ExportedRequest) => string | Uint8Array
}
