import type { Urls } from '../api/services.ts'
import { captureUrlOf } from '../endpoints/index.ts'
import { isCredentialName, MASK } from '../engine/credentials.ts'
import { storedHeaders, type WireHeader } from '../engine/message/index.ts'
import type { RequestRow } from '../requests/index.ts'
import { isTextBody } from './exportQueries.ts'
import type { ExportedRequest } from './formats/index.ts'

interface Writing {
  readonly captureId: string
  readonly urls: Urls
  readonly includeSecrets: boolean
}

/** A row as input of the formats. */
export function exportedRequest(row: RequestRow, writing: Writing): ExportedRequest {
  return { ...exportedHead(row, writing), body: row.body }
}

/** The same without the body. */
export function exportedHead(
  row: Omit<RequestRow, 'body'>,
  { captureId, urls, includeSecrets }: Writing,
): Omit<ExportedRequest, 'body'> {
  const query = row.queryString === null ? '' : `?${row.queryString}`
  const headers = storedHeaders(row)
  return {
    receivedAt: row.receivedAt,
    method: row.method,
    url: `${captureUrlOf(urls, captureId)}${row.path}${query}`,
    headers: includeSecrets ? headers : withoutSecrets(headers),
    contentType: row.contentType,
    label: row.label,
    isText: isTextBody(row),
    bodyTruncated: row.bodyTruncated,
  }
}

/** The fields with the values of credentials masked; names and order are unchanged. */
export function withoutSecrets(headers: readonly WireHeader[]): WireHeader[] {
  return headers.map(([name, value]) => [name, isCredentialName(name) ? MASK : value])
}
