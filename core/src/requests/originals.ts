import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Services } from '../api/services.ts'
import { ANSWER_LIMITS, storedAnswerFrom } from '../endpoints/index.ts'
import type { EvaluatedRequest, WireHeader } from '../engine/message/index.ts'
import type { Redaction } from '../engine/storing/index.ts'
import { type Db, Failures, type Trx } from '../platform/db/index.ts'
import { newDataKey, openBytes, type SealedTable, sealBytes } from '../platform/secrets/index.ts'

/** Sealed keys of the noun. */
export const SEALED_ORIGINAL_KEYS: SealedTable = {
  table: 'creel_keys.original_keys',
  columns: ['originalKey'],
}

/** The original of a stored request, for its deliveries. */
export interface Original {
  readonly workspaceId: string
  readonly requestId: number
  readonly request: EvaluatedRequest
  readonly expiresAt: Date
}

/** SQL for the bytes of an original, and of the answer beside it. */
export const originalBytesOf = (row: string): string =>
  `(octet_length(${row}.original) + coalesce(octet_length(${row}.answer), 0))`

/** Stores the originals of requests, each sealed with a key of its own, in the transaction of the requests. */
export async function insertOriginals(
  { secrets }: Pick<Services, 'secrets'>,
  trx: Trx,
  originals: readonly Original[],
): Promise<void> {
  for (const { workspaceId, requestId, request, expiresAt } of originals) {
    const { endpointId } = request
    const { body, ...head } = request
    const key = newDataKey()
    const sealedKey = secrets.seal(key.toString('base64'), workspaceId)
    await trx
      .insertInto('requestOriginals')
      .values({ endpointId, requestId, original: sealBytes(key, framed(head, body)), expiresAt })
      .execute()
    await sql`
      insert into creel_keys.original_keys (id, workspace_id, endpoint_id, request_id, original_key)
      values (${randomUUID()}, ${workspaceId}, ${endpointId}, ${requestId}, ${sealedKey})`.execute(trx)
  }
}

/**
 * SQL of {@link hasOriginal}. The text is not read as JSON, since rows of earlier versions may hold paths that
 * PostgreSQL's JSON refuses. A quote within a path is escaped.
 */
export const KEEPS_ORIGINAL = sql`redaction like '%"original":true%'`

/** Whether the original of a request was kept for its deliveries, by its `redaction` column. */
export function hasOriginal(redaction: string | null): boolean {
  if (redaction === null) return false
  const { original }: Redaction = JSON.parse(redaction)
  return original === true
}

interface Stored {
  readonly requestId: number
  readonly workspaceId: string
  readonly original: Buffer
  readonly originalKey: Buffer
}

/**
 * Reads originals that have not expired.
 *
 * @returns originals by the ids of their requests; those whose key is gone are absent, and those that were altered,
 *   which are logged
 */
export async function findOriginals(
  { secrets, clock, log }: Pick<Services, 'secrets' | 'clock' | 'log'>,
  db: Db | Trx,
  requests: readonly { readonly endpointId: string; readonly requestId: number }[],
): Promise<ReadonlyMap<number, EvaluatedRequest>> {
  if (requests.length === 0) return new Map()
  const { rows } = await sql<Stored>`
    select o.request_id, k.workspace_id, o.original, k.original_key
    from unnest(${requests.map(({ endpointId }) => endpointId)}::uuid[],
      ${requests.map(({ requestId }) => requestId)}::bigint[]) as wanted (endpoint_id, request_id)
    join request_originals o using (endpoint_id, request_id)
    join creel_keys.original_keys k using (endpoint_id, request_id)
    where o.expires_at > ${clock.now()}`.execute(db)
  const opened = new Map<number, EvaluatedRequest>()
  for (const row of rows) {
    try {
      opened.set(row.requestId, requestOf(openBytes(keyOf(secrets, row), row.original)))
    } catch (error) {
      log.error({ err: error, requestId: row.requestId }, 'an original was altered: it is read as gone')
    }
  }
  return opened
}

/** Until when the original of a request is kept; null if it is gone. */
export async function originalUntil(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  endpointId: string,
  requestId: number,
): Promise<Date | null> {
  const row = await db
    .selectFrom('requestOriginals')
    .where('endpointId', '=', endpointId)
    .where('requestId', '=', requestId)
    .where('expiresAt', '>', clock.now())
    .select('expiresAt')
    .executeTakeFirst()
  return row?.expiresAt ?? null
}

/** Destroys originals of some requests of an endpoint, and their keys. */
export async function forgetOriginals(trx: Trx, endpointId: string, requestIds: readonly number[]) {
  const of = sql`endpoint_id = ${endpointId} and request_id = any(${requestIds}::bigint[])`
  // In the order of the sweep, so that the two cannot wait for each other.
  await sql`delete from request_originals where ${of}`.execute(trx)
  await sql`delete from creel_keys.original_keys where ${of}`.execute(trx)
}

/** Rows that one statement deletes. */
const BATCH_ROWS = 500

/** Destroys the next originals of an endpoint. Returns whether there may be more. */
export async function forgetNextOriginals(trx: Trx, endpointId: string): Promise<boolean> {
  const next = trx.selectFrom('requestOriginals').where('endpointId', '=', endpointId).limit(BATCH_ROWS)
  const rows = await next.select('requestId').execute()
  const ids = rows.map(({ requestId }) => requestId)
  await forgetOriginals(trx, endpointId, ids)
  return rows.length === BATCH_ROWS
}

/** Destroys all originals of an endpoint, in short transactions. */
export async function forgetAllOriginals(db: Db, endpointId: string): Promise<void> {
  while (await db.transaction().execute((trx) => forgetNextOriginals(trx, endpointId)));
}

/** A gateway that answers a sender reads a kept answer within this time of the capture. */
const ANSWER_READ_MS = 2 * ANSWER_LIMITS.timeoutMs.max

/**
 * Destroys the keys of originals that have expired, and of those whose deliveries have ended, page by page. The
 * original of a dead letter stays until it expires, so that it can be replayed, or until its request is gone. The
 * original of a new request with an answer stays until its sender has the answer.
 *
 * @param workspaceId whose originals; of all workspaces by default
 * @throws what has failed, at the end
 */
export async function sweepOriginals(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  signal: AbortSignal,
  workspaceId: string | null = null,
): Promise<void> {
  const failures = new Failures()
  const readFrom = new Date(clock.now().getTime() - ANSWER_READ_MS)
  const all =
    workspaceId === null
      ? sql`true`
      : sql`o.endpoint_id in (select id from endpoints where workspace_id = ${workspaceId})`
  let page = all
  for (let isMore = true; isMore && !signal.aborted; ) {
    const [last] = (
      await sql<{ endpointId: string; requestId: number }>`
      select endpoint_id, request_id from request_originals o where ${page}
      order by endpoint_id, request_id offset ${BATCH_ROWS - 1} limit 1`.execute(db)
    ).rows
    const upTo = last && sql`(o.endpoint_id, o.request_id) <= (${last.endpointId}, ${last.requestId})`
    const ended = sql`
      with ended as (
        select o.endpoint_id, o.request_id from request_originals o
        where ${page} and ${upTo ?? sql`true`} and (o.expires_at <= ${clock.now()} or not exists (
          select from deliveries d where d.endpoint_id = o.endpoint_id and d.request_id = o.request_id
            and (d.finished_at is null or d.dead_lettered_at is not null and exists (
              select from requests r where r.endpoint_id = o.endpoint_id and r.id = o.request_id)))
          and (o.answer is null or not exists (select from requests r
            where r.endpoint_id = o.endpoint_id and r.id = o.request_id and r.received_at > ${readFrom})))
      ), forgotten as (
        delete from creel_keys.original_keys k using ended e
        where k.endpoint_id = e.endpoint_id and k.request_id = e.request_id
      )
      delete from request_originals o using ended e
      where o.endpoint_id = e.endpoint_id and o.request_id = e.request_id`
    await failures.unless(() => ended.execute(db))
    isMore = last !== undefined
    if (last) page = sql`${all} and (o.endpoint_id, o.request_id) > (${last.endpointId}, ${last.requestId})`
  }
  failures.throwAny()
}

/** Answer of a receiver. */
export interface ReceivedAnswer {
  readonly statusCode: number
  readonly headers: readonly WireHeader[]
  readonly body: Uint8Array
  readonly bodyTruncated: boolean
}

interface OfRequest {
  readonly endpointId: string
  readonly requestId: number
}

/**
 * Keeps what a receiver answered to an original, which no record may repeat, if the endpoint answers its senders by that
 * action. It is sealed with the key of the original, and ends with it.
 */
export async function keepAnswer(
  { secrets }: Pick<Services, 'secrets'>,
  trx: Trx,
  { endpointId, requestId, actionId }: OfRequest & { readonly actionId: string },
  { body, ...head }: ReceivedAnswer,
): Promise<void> {
  const { rows } = await sql<
    Pick<Stored, 'workspaceId' | 'originalKey'> & { readonly answerFrom: string | null }
  >`
    select k.workspace_id, k.original_key, e.answer_from from creel_keys.original_keys k
    join endpoints e on e.id = k.endpoint_id
    where k.endpoint_id = ${endpointId} and k.request_id = ${requestId}`.execute(trx)
  for (const row of rows) {
    if (storedAnswerFrom(row.answerFrom)?.actionId !== actionId) continue
    await trx
      .updateTable('requestOriginals')
      .set({ answer: sealBytes(keyOf(secrets, row), framed(head, body)) })
      .where('endpointId', '=', endpointId)
      .where('requestId', '=', requestId)
      .execute()
  }
}

/** Reads what {@link keepAnswer} kept; undefined if that is nothing, or has ended. */
export async function findAnswer(
  { secrets }: Pick<Services, 'secrets'>,
  db: Db,
  { endpointId, requestId }: OfRequest,
): Promise<ReceivedAnswer | undefined> {
  const { rows } = await sql<Pick<Stored, 'workspaceId' | 'originalKey'> & { readonly answer: Buffer }>`
    select k.workspace_id, k.original_key, o.answer from request_originals o
    join creel_keys.original_keys k using (endpoint_id, request_id)
    where o.endpoint_id = ${endpointId} and o.request_id = ${requestId} and o.answer is not null`.execute(db)
  const [row] = rows
  if (row === undefined) return undefined
  return answerOf(openBytes(keyOf(secrets, row), row.answer))
}

const answerOf = (bytes: Buffer) => unframed<Omit<ReceivedAnswer, 'body'>>(bytes)

/** Answers that one read holds in memory. */
const ANSWERS_MAX = 20

/** The next answers that are kept beside originals of an endpoint, after a request; null if one cannot be read. */
export async function nextKeptAnswers(
  { secrets, db }: Pick<Services, 'secrets' | 'db'>,
  { endpointId, afterId }: { readonly endpointId: string; readonly afterId: number },
): Promise<readonly { readonly requestId: number; readonly answer: ReceivedAnswer | null }[]> {
  const { rows } = await sql<Omit<Stored, 'original'> & { readonly answer: Buffer }>`
    select o.request_id, k.workspace_id, k.original_key, o.answer from request_originals o
    join creel_keys.original_keys k using (endpoint_id, request_id)
    where o.endpoint_id = ${endpointId} and o.request_id > ${afterId} and o.answer is not null
    order by o.request_id limit ${ANSWERS_MAX}`.execute(db)
  return rows.map(({ requestId, answer, ...key }) => {
    try {
      return { requestId, answer: answerOf(openBytes(keyOf(secrets, key), answer)) }
    } catch {
      return { requestId, answer: null }
    }
  })
}

/** Destroys answers that are kept beside originals. */
export async function forgetKeptAnswers(
  trx: Trx,
  endpointId: string,
  requestIds: readonly number[],
): Promise<void> {
  await sql`
    update request_originals set answer = null
    where endpoint_id = ${endpointId} and request_id = any(${requestIds}::bigint[])`.execute(trx)
}

function keyOf(
  secrets: Services['secrets'],
  { originalKey, workspaceId }: Pick<Stored, 'workspaceId' | 'originalKey'>,
): Buffer {
  return Buffer.from(secrets.open(originalKey, workspaceId), 'base64')
}

const LENGTH_BYTES = 4

/** A message as bytes: the length of its head, its head as JSON, its body. */
function framed(head: object, body: Uint8Array): Buffer {
  const text = Buffer.from(JSON.stringify(head))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(text.length)
  return Buffer.concat([length, text, body])
}

/** Reads bytes of {@link framed}. */
function unframed<Head extends object>(bytes: Buffer): Head & { readonly body: Buffer } {
  const end = LENGTH_BYTES + bytes.readUInt32BE(0)
  const head: Head = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, end))
  return { ...head, body: bytes.subarray(end) }
}

type Framed = Omit<EvaluatedRequest, 'body' | 'receivedAt'> & { readonly receivedAt: string }

function requestOf(bytes: Buffer): EvaluatedRequest {
  const request = unframed<Framed>(bytes)
  return { ...request, receivedAt: new Date(request.receivedAt) }
}
