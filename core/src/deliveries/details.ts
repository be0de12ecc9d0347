import type { Insertable } from 'kysely'
import type { ChannelSend } from '../alertChannels/index.ts'
import type { WireHeader } from '../engine/message/index.ts'
import { type AttemptDetailsTable, columnsOf, run, statement, type Trx } from '../platform/db/index.ts'
import { type DataKeyRef, type SecretBox, sealedAs } from '../platform/secrets/index.ts'
import type { AttemptResult, SentMessage } from './attempt.ts'
import { columnOf } from './dueAttempts.ts'
import { addAttemptBytes, recordBytesOf } from './storageBytes.ts'

/** The most bytes of a body that a record keeps. */
export const RECORDED_BODY_BYTES = 262_144

/** The recorded part of a receiver's answer. */
export type ReceivedAnswer = NonNullable<AttemptResult['received']>

/** The first {@link RECORDED_BODY_BYTES} of a body, without a copy. */
export function recorded(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, RECORDED_BODY_BYTES))
}

/** Writes header fields as the text that a record holds. */
function headersToText(headers: readonly WireHeader[]): string {
  return JSON.stringify(headers)
}

/** Reads header fields that {@link headersToText} wrote. */
export function headersFromText(text: string): WireHeader[] {
  return JSON.parse(text)
}

/**
 * SQL for whether any of some endpoints has records; `endpointIds` is SQL for an array. It runs once in a statement.
 */
export const hasRecords = (endpointIds: string): string =>
  `(select exists (select from attempt_details where endpoint_id = any(${endpointIds})))`

/**
 * SQL of a `with` list: copies the captured bodies of requests that are about to be deleted into the records that do
 * not hold them, up to {@link RECORDED_BODY_BYTES}. So a record shows what was sent for as long as its attempt exists.
 *
 * @param gone name of a query in the list for `endpoint_id`, `id` and `body` of requests
 * @param isNeeded SQL for whether there may be such records
 */
export const withSentBodies = (gone: string, isNeeded = 'true'): string => `
kept_records as (
  update attempt_details d set
    sent_body = substring(old.body for ${RECORDED_BODY_BYTES}),
    storage_bytes = ${recordBytesOf('d', `least(octet_length(old.body), ${RECORDED_BODY_BYTES})`)}
  from (
    select a.row_at, coalesce(a.storage_bytes, 0) as storage_bytes, g.body
    from ${gone} g
    cross join lateral (
      select ctid as row_at, storage_bytes from attempt_details
      where endpoint_id = g.endpoint_id and request_id = g.id and sent_body is null offset 0) a
    where ${isNeeded}
  ) old
  where d.ctid = old.row_at
  returning d.endpoint_id, d.storage_bytes - old.storage_bytes as more
),
kept_bytes as (
  ${addAttemptBytes('select endpoint_id, sum(more)::bigint from kept_records group by endpoint_id')}
)`

const KEEP = statement(
  'keep sent bodies',
  `with gone as (
    select endpoint_id, id, body from requests where endpoint_id = $1::uuid and id = any($2::bigint[])
  ),${withSentBodies('gone')}
  select count(*) from kept_records`,
)

/** Copies the bodies of requests that are about to be deleted into the records of their attempts. */
export async function keepSentBodies(
  trx: Trx,
  endpointId: string,
  requestIds: readonly number[],
): Promise<void> {
  if (requestIds.length > 0) await run(trx, KEEP, [endpointId, requestIds])
}

/** The columns of a record before they are sealed, with the beginnings of both bodies. */
export function recordOf(
  sent: Pick<SentMessage, 'method' | 'url' | 'headers' | 'body'>,
  received: ReceivedAnswer | null,
) {
  return {
    sentMethod: sent.method,
    sentUrl: sent.url,
    sentHeaders: headersToText(sent.headers),
    sentBody: recorded(sent.body),
    sentBodyTruncated: sent.body.length > RECORDED_BODY_BYTES,
    receivedStatusCode: received?.statusCode ?? null,
    receivedHeaders: received && headersToText(received.headers),
    receivedBody: received && recorded(received.body),
    receivedBodyTruncated: received && (received.bodyTruncated || received.body.length > RECORDED_BODY_BYTES),
  }
}

/** The columns of a record that a key seals. */
type Recorded = Pick<
  Insertable<AttemptDetailsTable>,
  'sentUrl' | 'sentHeaders' | 'receivedHeaders' | 'receivedBody'
> & { readonly sentBody: Buffer | null }

/** A record as it is stored. If its request is sealed, the key of that seals it. */
export function sealedRecord<Record extends Recorded>(
  secrets: Pick<SecretBox, 'open'>,
  sealing: DataKeyRef | null,
  record: Record,
) {
  const { sentUrl, sentHeaders, sentBody, receivedHeaders = null, receivedBody = null } = record
  const members = { sentUrl, sentHeaders, sentBody, receivedHeaders, receivedBody }
  const { sealedWith, sealed } = sealedAs(secrets, sealing, members)
  if (sealedWith === null) return { ...record, sealedWith, sealed }
  // An empty body, not none: no other is put in its place when the request is deleted.
  const empty = {
    sentUrl: '',
    sentHeaders: '[]',
    sentBody: Buffer.alloc(0),
    receivedHeaders: null,
    receivedBody: null,
  }
  return { ...record, ...empty, sealedWith, sealed }
}

/** Members of a record that a later send of the same attempt replaces, with the types of their columns. */
const REPLACED = [
  ['sentMethod', 'text'],
  ['sentUrl', 'text'],
  ['sentHeaders', 'text'],
  ['sentBody', 'bytea'],
  ['sentBodyTruncated', 'boolean'],
  ['receivedStatusCode', 'int'],
  ['receivedHeaders', 'text'],
  ['receivedBody', 'bytea'],
  ['receivedBodyTruncated', 'boolean'],
  ['sealedWith', 'uuid'],
  ['sealed', 'bytea'],
] as const
const COLUMNS = REPLACED.map(([member]) => columnOf(member))

const REPLACE = statement(
  'replace records of attempts',
  `insert into attempt_details (endpoint_id, attempt_id, request_id, ${COLUMNS.join(', ')})
  select g.* from unnest($1::uuid[], $2::bigint[], $3::bigint[], ${REPLACED.map(
    ([, type], at) => `$${at + 4}::${type}[]`,
  ).join(', ')}) as g (endpoint_id, attempt_id, request_id, ${COLUMNS.join(', ')})
  where exists (select from delivery_attempts a where a.endpoint_id = g.endpoint_id and a.id = g.attempt_id)
  on conflict (endpoint_id, attempt_id) do update
    set (${COLUMNS.join(', ')}) = (${COLUMNS.map((name) => `excluded.${name}`).join(', ')})`,
)

/** A send of a notify attempt. */
interface NotifySend extends Pick<ChannelSend, 'sent' | 'received'> {
  readonly endpointId: string
  readonly attemptId: number
  readonly requestId: number
  /** The key that seals the request; null without. */
  readonly sealing: DataKeyRef | null
}

/**
 * Replaces the records of notify attempts by those of their latest sends. Secrets are masked. An attempt that was
 * deleted meanwhile gets none.
 */
export async function replaceRecords(
  secrets: Pick<SecretBox, 'open'>,
  trx: Trx,
  sends: readonly NotifySend[],
): Promise<void> {
  if (sends.length === 0) return
  const records = sends.map(({ sent, received, sealing }) => {
    const answer = received && { ...received, body: Buffer.from(received.body) }
    return sealedRecord(secrets, sealing, recordOf({ ...sent, body: Buffer.from(sent.body) }, answer))
  })
  await run(trx, REPLACE, [
    ...columnsOf(sends, 'endpointId', 'attemptId', 'requestId'),
    ...columnsOf(records, ...REPLACED.map(([member]) => member)),
  ])
}
