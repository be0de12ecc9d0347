import type { ChannelSend } from '../alertChannels/index.ts'
import type { WireHeader } from '../engine/message/index.ts'
import type { Trx } from '../platform/db/index.ts'

/** Bodies are recorded up to here. */
export const RECORDED_BODY_BYTES = 262_144

/** What a receiver answered, as far as it is recorded. */
export interface ReceivedAnswer {
  readonly statusCode: number
  readonly headers: readonly WireHeader[]
  readonly body: Uint8Array
  readonly bodyTruncated: boolean
}

/** As much of a body as is recorded. */
export function recorded(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, RECORDED_BODY_BYTES))
}

/** Header fields as a record holds them. */
export function headersToText(headers: readonly WireHeader[]): string {
  return JSON.stringify(headers)
}

/** The fields of a record, as `headersToText` stored them. */
export function headersFromText(text: string): WireHeader[] {
  return JSON.parse(text)
}

/** Records what the latest send of a notify attempt put on the wire, secrets masked, in place of the one before. */
export async function replaceDetail(
  trx: Trx,
  of: { readonly endpointId: string; readonly attemptId: number; readonly requestId: number },
  { sent, received }: Pick<ChannelSend, 'sent' | 'received'>,
): Promise<void> {
  const sentBody = Buffer.from(sent.body)
  const record = {
    sentMethod: sent.method,
    sentUrl: sent.url,
    sentHeaders: headersToText(sent.headers),
    sentBody: recorded(sentBody),
    sentBodyTruncated: sentBody.length > RECORDED_BODY_BYTES,
    receivedStatusCode: received?.statusCode ?? null,
    receivedHeaders: received === null ? null : headersToText(received.headers),
    receivedBody: received === null ? null : recorded(Buffer.from(received.body)),
    receivedBodyTruncated: received?.bodyTruncated ?? null,
  }
  await trx
    .insertInto('attemptDetails')
    .values({ ...of, ...record })
    .onConflict((conflict) => conflict.columns(['endpointId', 'attemptId']).doUpdateSet(record))
    .execute()
}
