import type { Urls } from '../api/services.ts'
import { captureUrlOf } from '../endpoints/index.ts'
import { isCredentialName, MASK } from '../engine/credentials.ts'
import { CONNECTION_FIELDS, storedHeaders, type WireHeader } from '../engine/message/index.ts'
import type { RequestRow } from '../requests/index.ts'

/** A captured request as the formats write it down. */
export interface ExportedRequest {
  readonly receivedAt: Date
  readonly method: string
  /** The capture URL with path and query as they were sent. */
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

/** What a row says, for the formats. */
export function exportedRequest(
  row: RequestRow,
  {
    captureId,
    urls,
    includeSecrets,
  }: { readonly captureId: string; readonly urls: Urls; readonly includeSecrets: boolean },
): ExportedRequest {
  const query = row.queryString === null ? '' : `?${row.queryString}`
  const headers = storedHeaders(row)
  return {
    receivedAt: row.receivedAt,
    method: row.method,
    url: `${captureUrlOf(urls, captureId)}${row.path}${query}`,
    headers: includeSecrets ? headers : withoutSecrets(headers),
    contentType: row.contentType,
    label: row.label,
    body: row.body,
    isText: !row.bodyIsBinary && !row.bodyTruncated,
    bodyTruncated: row.bodyTruncated,
  }
}

/** The fields with the values of credentials masked; names and order stay. */
export function withoutSecrets(headers: readonly WireHeader[]): WireHeader[] {
  return headers.map(([name, value]) => [name, isCredentialName(name) ? MASK : value])
}

/** The fields that a program that sends the request again has to set. */
export function endToEndHeaders({ headers }: ExportedRequest): WireHeader[] {
  return headers.filter(([name]) => !CONNECTION_FIELDS.has(name.toLowerCase()))
}
