import { type Insertable, sql } from 'kysely'
import type { ChannelSend } from '../alertChannels/index.ts'
import type { Db, DeliveryAttemptsTable, Trx } from '../db/index.ts'
import type { WireHeader } from '../requests/capturedRequest.ts'
import type { Attempt, AttemptResult } from './attempt.ts'
import type { AttemptState } from './states.ts'

/** Bodies are recorded up to here (SPEC Limits). */
export const RECORDED_BODY_BYTES = 262_144

export type NewAttempt = Insertable<DeliveryAttemptsTable>

/**
 * Writes the Pending rows of tries that begin. A try that has a row already is passed over: another worker was
 * first (`delivery_attempts_by_delivery`).
 *
 * @returns the ids in no order, by delivery; inline replays have no delivery and go through {@link insertReplay}
 */
export async function insertAttempts(trx: Trx, rows: readonly NewAttempt[]): Promise<Map<number, number>> {
  if (rows.length === 0) return new Map()
  const inserted = await trx
    .insertInto('deliveryAttempts')
    .values([...rows])
    .onConflict((conflict) =>
      conflict.columns(['deliveryId', 'attemptNumber']).where('deliveryId', 'is not', null).doNothing(),
    )
    .returning(['id', 'deliveryId'])
    .execute()
  return new Map(inserted.map(({ id, deliveryId }) => [deliveryId ?? 0, id]))
}

/** Writes the Pending row of an inline replay. */
export async function insertReplay(trx: Trx, row: NewAttempt): Promise<number> {
  const { id } = await trx
    .insertInto('deliveryAttempts')
    .values(row)
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** The columns that the end of a try fills. */
export interface FinishedRow {
  readonly endpointId: string
  readonly id: number
  readonly state: AttemptState
  readonly statusCode: number | null
  readonly error: string | null
  readonly finishedAt: Date
  readonly durationMs: number
  readonly nextAttemptAt: Date | null
  readonly transformed: boolean
  readonly transformationVersion: number | null
  readonly transformNote: string | null
}

/**
 * Finishes rows that are still Pending, in one statement.
 *
 * @returns the ids that were; the others ended otherwise in the meantime
 */
export async function finishAttempts(trx: Trx, rows: readonly FinishedRow[]): Promise<Set<number>> {
  const column = <Name extends keyof FinishedRow>(name: Name) => rows.map((row) => row[name])
  const { rows: finished } = await sql<{ id: number }>`
    update delivery_attempts a set
      state = u.state, status_code = u.status_code, error = u.error, finished_at = u.finished_at,
      duration_ms = u.duration_ms, next_attempt_at = u.next_attempt_at, transformed = u.transformed,
      transformation_version = u.transformation_version, transform_note = u.transform_note
    from unnest(
      ${column('endpointId')}::uuid[], ${column('id')}::bigint[], ${column('state')}::text[],
      ${column('statusCode')}::int[], ${column('error')}::text[], ${column('finishedAt')}::timestamptz[],
      ${column('durationMs')}::int[], ${column('nextAttemptAt')}::timestamptz[],
      ${column('transformed')}::boolean[], ${column('transformationVersion')}::int[],
      ${column('transformNote')}::text[]
    ) as u (endpoint_id, id, state, status_code, error, finished_at, duration_ms, next_attempt_at, transformed,
            transformation_version, transform_note)
    where a.endpoint_id = u.endpoint_id and a.id = u.id and a.state = 'Pending'
    returning a.id`.execute(trx)
  return new Set(finished.map(({ id }) => id))
}

/** Records exactly what was sent and received; tries that sent nothing have no record. */
export async function insertDetails(
  trx: Trx,
  ended: readonly { readonly attempt: Attempt; readonly result: AttemptResult }[],
): Promise<void> {
  const rows = ended.flatMap(({ attempt, result: { sent, received } }) =>
    sent === null
      ? []
      : [
          {
            endpointId: attempt.endpoint.id,
            attemptId: attempt.id,
            requestId: attempt.requestId,
            sentMethod: sent.method,
            sentUrl: sent.url,
            sentHeaders: headersToText(sent.headers),
            sentBody: sent.bodyIsCaptured ? null : recorded(sent.body),
            sentBodyTruncated: sent.body.length > RECORDED_BODY_BYTES,
            receivedStatusCode: received?.statusCode ?? null,
            receivedHeaders: received === null ? null : headersToText(received.headers),
            receivedBody: received === null ? null : recorded(received.body),
            receivedBodyTruncated: received?.bodyTruncated ?? null,
          },
        ],
  )
  if (rows.length > 0) await trx.insertInto('attemptDetails').values(rows).execute()
}

/** Records what the latest send of a notify try put on the wire, secrets masked, in place of the one before. */
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

function recorded(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, RECORDED_BODY_BYTES))
}

function headersToText(headers: readonly WireHeader[]): string {
  return JSON.stringify(headers)
}

/** The fields of a record, as `headersToText` stored them. */
export function headersFromText(text: string): WireHeader[] {
  return JSON.parse(text)
}

/** Ends runs: what they did stays in their attempts. */
export async function removeDeliveries(trx: Trx, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await sql`delete from deliveries where id = any(${ids}::bigint[])`.execute(trx)
}

/** Parks runs: they stay until their request goes. */
export async function parkDeliveries(
  trx: Trx,
  parked: readonly { readonly deliveryId: number; readonly attemptNumber: number }[],
  now: Date,
): Promise<void> {
  if (parked.length === 0) return
  await sql`
    update deliveries d set finished_at = ${now}, parked_at = ${now}, attempt_count = u.attempt_number
    from unnest(${parked.map((one) => one.deliveryId)}::bigint[],
                ${parked.map((one) => one.attemptNumber)}::int[]) as u (id, attempt_number)
    where d.id = u.id`.execute(trx)
}

/** Notes when the next try of runs is due, and how many they have had. */
export async function rescheduleDeliveries(
  trx: Trx,
  again: readonly { readonly deliveryId: number; readonly attemptNumber: number; readonly at: Date }[],
): Promise<void> {
  if (again.length === 0) return
  await sql`
    update deliveries d set next_attempt_at = u.at, attempt_count = u.attempt_number
    from unnest(${again.map((one) => one.deliveryId)}::bigint[], ${again.map((one) => one.attemptNumber)}::int[],
                ${again.map((one) => one.at)}::timestamptz[]) as u (id, attempt_number, at)
    where d.id = u.id`.execute(trx)
}

/** Wakes whoever waits for a state of these endpoints' requests, in every process, once the transaction commits. */
export async function announceDeliveries(trx: Trx, endpointIds: readonly string[]): Promise<void> {
  const ids = [...new Set(endpointIds)]
  await sql`select pg_notify('creel_endpoints', id) from unnest(${ids}::text[]) as id`.execute(trx)
}

/** Locks overdue tries, oldest first, passing over those that another process holds; served by `delivery_attempts_pending`. */
export function lockOverdue(trx: Trx, now: Date, limit: number) {
  return trx
    .selectFrom('deliveryAttempts')
    .where('state', '=', 'Pending')
    .where('leaseUntil', '<', now)
    .orderBy('leaseUntil')
    .limit(limit)
    .select(['endpointId', 'id', 'deliveryId', 'attemptNumber', 'at', 'workspaceId', 'requestId'])
    .select(['actionId', 'actionName'])
    .forUpdate()
    .skipLocked()
    .execute()
}

/** A run that is still open, with what its next job and its incident say. */
export interface OpenRun {
  readonly id: number
  readonly workspaceId: string
  readonly endpointId: string
  readonly endpointName: string
  readonly requestId: number
  readonly actionId: string
  readonly actionName: string
  readonly kind: string
  readonly trigger: string
  readonly attemptCount: number
  readonly nextAttemptAt: Date
  readonly bodyBytes: number
  /** The action's URL; null for notify. */
  readonly url: string | null
}

/** Which open runs: by id, by action, or by request. */
export type RunsOf =
  | { readonly ids: readonly number[] }
  | { readonly actionIds: readonly string[] }
  | { readonly endpointId: string; readonly requestIds: readonly number[] }

/** Open runs whose endpoint, action and request still exist, oldest first. */
export function findOpenRuns(db: Db, of: RunsOf): Promise<OpenRun[]> {
  return db
    .selectFrom('deliveries as d')
    .innerJoin('endpoints as e', 'e.id', 'd.endpointId')
    .innerJoin('actions as a', 'a.id', 'd.actionId')
    .innerJoin('requests as r', (join) =>
      join.onRef('r.endpointId', '=', 'd.endpointId').onRef('r.id', '=', 'd.requestId'),
    )
    .where('d.finishedAt', 'is', null)
    .$if('ids' in of, (query) => query.where('d.id', 'in', 'ids' in of ? of.ids : []))
    .$if('actionIds' in of, (query) => query.where('d.actionId', 'in', 'actionIds' in of ? of.actionIds : []))
    .$if('requestIds' in of, (query) =>
      'requestIds' in of
        ? query.where('d.endpointId', '=', of.endpointId).where('d.requestId', 'in', of.requestIds)
        : query,
    )
    .select(['d.id', 'd.workspaceId', 'd.endpointId', 'd.requestId', 'd.actionId', 'd.kind', 'd.trigger'])
    .select(['d.attemptCount', 'd.nextAttemptAt', 'a.name as actionName', 'a.url', 'e.name as endpointName'])
    .select(sql<number>`octet_length(r.body)`.as('bodyBytes'))
    .orderBy('d.id')
    .execute()
}

/** Drops every run of actions, parked ones too: the actions are about to be deleted. */
export async function removeRunsOfActions(trx: Trx, actionIds: readonly string[]): Promise<void> {
  await trx.deleteFrom('deliveries').where('actionId', 'in', actionIds).execute()
}
