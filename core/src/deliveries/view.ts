import type { z } from 'zod'
import { isNamed, joinedHeaders, shownFields } from '../engine/message/index.ts'
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

function sentView({ sentMethod, sentUrl, sentHeaders, sentBody, sentBodyTruncated }: DetailRow) {
  return { method: sentMethod, url: sentUrl, ...messageView(sentHeaders, sentBody, sentBodyTruncated) }
}

function receivedView({ receivedStatusCode: statusCode, receivedHeaders, ...detail }: DetailRow) {
  if (statusCode === null) return null
  const { receivedBody, receivedBodyTruncated } = detail
  const message = messageView(
    receivedHeaders ?? '[]',
    receivedBody ?? new Uint8Array(),
    receivedBodyTruncated,
  )
  const type = message.rawHeaders.find(({ name }) => isNamed(name, 'content-type'))
  return { statusCode, contentType: type?.value ?? null, ...message }
}

function messageView(headersText: string, body: Uint8Array, isCut: boolean | null) {
  const headers = headersFromText(headersText)
  const bodyTruncated = isCut ?? false
  return {
    // Records join all repeats alike; the raw headers have the cookies as they were sent.
    headers: joinedHeaders(headers, ', '),
    rawHeaders: shownFields(headers),
    ...recordedBody(body, bodyTruncated),
    bodyTruncated,
    decodedBody: decodedView({ body, bodyTruncated, headers }),
  }
}
