import type { EvaluatedRequest, WireHeader } from '../../engine/message/index.ts'
import { CONNECTION_FIELDS } from '../../engine/words/index.ts'

type Kept = 'receivedAt' | 'method' | 'headers' | 'contentType' | 'label' | 'bodyTruncated'

/** A request as its formats write it. Secrets among its headers are masked by default. */
export interface ExportedRequest extends Pick<EvaluatedRequest, Kept> {
  /** Address to send it to, with path and query as they were sent. */
  readonly url: string
  readonly body: Buffer
  /** Whether the body is UTF-8 text without NUL. */
  readonly isText: boolean
}

export interface Format {
  readonly contentType: string
  /** Extension of the file, without the full stop. */
  readonly extension: string
  /** Description for users. */
  readonly about: string
  readonly write: (request: ExportedRequest) => string | Uint8Array
}

/** The fields that a program has to set when it sends the request again. */
export function endToEndHeaders({ headers }: ExportedRequest): WireHeader[] {
  return headers.filter(([name]) => !CONNECTION_FIELDS.has(name.toLowerCase()))
}

/** The same for libraries that take one value a name: repeated fields are joined, as HTTP allows. */
export function joinedHeaders(request: ExportedRequest): WireHeader[] {
  const joined = new Map<string, WireHeader>()
  for (const [name, value] of endToEndHeaders(request)) {
    const [first, others] = joined.get(name.toLowerCase()) ?? [name]
    joined.set(name.toLowerCase(), [first, others === undefined ? value : `${others}, ${value}`])
  }
  return [...joined.values()]
}
