import { CONNECTION_FIELDS, type WireHeader } from '../../engine/message/index.ts'

/** A captured request as the formats write it down. */
export interface ExportedRequest {
  readonly receivedAt: Date
  readonly method: string
  /** Where it is sent again, with path and query as they were sent. */
  readonly url: string
  /** Wire order, spelling and repeats; values as latin1 byte strings. Secrets are masked unless they were asked for. */
  readonly headers: readonly WireHeader[]
  readonly contentType: string | null
  readonly label: string | null
  readonly body: Buffer
  /** The body is text in UTF-8, with no NUL in it. */
  readonly isText: boolean
  /** Only a prefix of the body was kept. */
  readonly bodyTruncated: boolean
}

/** One way to write a request down. */
export interface Format {
  readonly contentType: string
  /** Of the file that it is saved as, without the full stop. */
  readonly extension: string
  /** What it is, for people. */
  readonly about: string
  readonly write: (request: ExportedRequest) => string | Uint8Array
}

/** The fields that a program that sends the request again has to set. */
export function endToEndHeaders({ headers }: ExportedRequest): WireHeader[] {
  return headers.filter(([name]) => !CONNECTION_FIELDS.has(name.toLowerCase()))
}
