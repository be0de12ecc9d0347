import type { z } from 'zod'
import { headerText, joinedHeaders, shownFields, type WireHeader } from '../engine/message/index.ts'
import { attemptStateOf, storedWord } from '../engine/words/index.ts'
import type { Db } from '../platform/db/index.ts'
import { decodedView } from '../requests/index.ts'
import { headersFromText } from './details.ts'
import { type AttemptRow, type DetailRow, findDetail } from './read.ts'
import { recordedBody } from './recordedBody.ts'
import type { DeliveryAttempt, DeliveryAttemptDetail } from './schema.ts'
import { TRIGGERS } from './states.ts'

/** Converts a row of an attempt to the API's shape. The note on its rules is a part of the detail only. */
export function attemptView({ transformNote: _note, ...row }: AttemptRow): z.input<typeof DeliveryAttempt> {
  return { ...row, state: attemptStateOf(row.state), trigger: storedWord(TRIGGERS, row.trigger) }
}

/** The API's shape of an attempt with its record. `sent` and `received` are null once the record was pruned. */
export async function attemptWithRecord(
  db: Db,
  endpointId: string,
  row: AttemptRow,
): Promise<z.input<typeof DeliveryAttemptDetail>> {
  const detail = row.hasDetail ? await findDetail(db, endpointId, row.id) : undefined
  return {
    ...attemptView(row),
    endpointId,
    transformNote: row.transformNote,
    sent: detail === undefined ? null : sentView(detail),
    received: detail === undefined ? null : receivedView(detail),
  }
}

function sentView(detail: DetailRow) {
  const headers = headersFromText(detail.sentHeaders)
  return {
    method: detail.sentMethod,
    url: detail.sentUrl,
    headers: joinedHeaders(headers),
    rawHeaders: shownFields(headers),
    ...bodyView(detail.sentBody, detail.sentBodyTruncated, headers),
  }
}

function receivedView(detail: DetailRow) {
  if (detail.receivedStatusCode === null) return null
  const headers = headersFromText(detail.receivedHeaders ?? '[]')
  return {
    statusCode: detail.receivedStatusCode,
    contentType: contentTypeOf(headers),
    headers: joinedHeaders(headers),
    rawHeaders: shownFields(headers),
    ...bodyView(detail.receivedBody ?? new Uint8Array(), detail.receivedBodyTruncated ?? false, headers),
  }
}

function bodyView(body: Uint8Array, bodyTruncated: boolean, headers: readonly WireHeader[]) {
  const decodedBody = decodedView({ body, bodyTruncated, headers })
  return { ...recordedBody(body, bodyTruncated), bodyTruncated, decodedBody }
}

function contentTypeOf(headers: readonly WireHeader[]): string | null {
  const value = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  return value === undefined ? null : headerText(value)
}
