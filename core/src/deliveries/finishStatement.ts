import type { Services } from '../api/services.ts'
import type { AttemptState } from '../engine/words/index.ts'
import {
  BOOL,
  BYTEA,
  type Db,
  encodeArray,
  INT4,
  INT8,
  type ItemType,
  run,
  statement,
  TEXT,
  TIMESTAMPTZ,
  type Trx,
  UUID,
} from '../platform/db/index.ts'
import type { DataKeyRef } from '../platform/secrets/index.ts'
import type { RulesApplied } from '../transformations/index.ts'
import type { SentMessage } from './attempt.ts'
import { type ReceivedAnswer, recordOf, sealedRecord } from './details.ts'
import { addAttemptBytes, attemptBytesOf, recordBytesOf } from './storageBytes.ts'

/** Effect of the end of an attempt on its delivery: it is removed, becomes a dead letter, or is attempted again. */
export type Disposition = 'over' | 'deadLettered' | 'again'

/** The outcome of an attempt, as its rows will store it. */
export interface FinishedAttempt extends RulesApplied {
  readonly endpointId: string
  readonly attemptId: number
  readonly requestId: number
  readonly state: AttemptState
  readonly statusCode: number | null
  readonly error: string | null
  readonly finishedAt: Date
  readonly durationMs: number
  readonly nextAttemptAt: Date | null
  readonly disposition: Disposition
  readonly sent: SentMessage | null
  /** Null when there was no answer. */
  readonly received: ReceivedAnswer | null
  /** Seals what was sent and received; null to store it in plain. */
  readonly sealing: DataKeyRef | null
}

/** An attempt as its rows store it. */
type StoredAttempt = FinishedAttempt & { readonly record: ReturnType<typeof recordToStore> }

/** One column of the batch: its name, its type, and its value in an attempt. */
interface Column {
  readonly name: string
  readonly type: string
  encode(attempts: readonly StoredAttempt[]): Buffer
}

function column<Value>(
  name: string,
  type: string,
  items: ItemType<Value>,
  valueIn: (one: StoredAttempt) => Value | null,
): Column {
  return { name, type, encode: (attempts) => encodeArray(items, attempts, valueIn) }
}

const COLUMNS: readonly Column[] = [
  column('endpoint_id', 'uuid', UUID, (t) => t.endpointId),
  column('attempt_id', 'bigint', INT8, (t) => t.attemptId),
  column('request_id', 'bigint', INT8, (t) => t.requestId),
  column('state', 'text', TEXT, (t) => t.state),
  column('status_code', 'int', INT4, (t) => t.statusCode),
  column('error', 'text', TEXT, (t) => t.error),
  column('finished_at', 'timestamptz', TIMESTAMPTZ, (t) => t.finishedAt),
  column('duration_ms', 'int', INT4, (t) => t.durationMs),
  column('next_attempt_at', 'timestamptz', TIMESTAMPTZ, (t) => t.nextAttemptAt),
  column('transformed', 'boolean', BOOL, (t) => t.transformed),
  column('transformation_version', 'int', INT4, (t) => t.transformationVersion),
  column('transform_note', 'text', TEXT, (t) => t.transformNote),
  column('disposition', 'text', TEXT, (t) => t.disposition),
  column('sent_method', 'text', TEXT, (t) => t.record?.sentMethod ?? null),
  column('sent_url', 'text', TEXT, (t) => t.record?.sentUrl ?? null),
  column('sent_headers', 'text', TEXT, (t) => t.record?.sentHeaders ?? null),
  column('sent_body', 'bytea', BYTEA, (t) => t.record?.sentBody ?? null),
  column('sent_cut', 'boolean', BOOL, (t) => t.record?.sentBodyTruncated ?? null),
  column('received_headers', 'text', TEXT, (t) => t.record?.receivedHeaders ?? null),
  column('received_body', 'bytea', BYTEA, (t) => t.record?.receivedBody ?? null),
  column('received_cut', 'boolean', BOOL, (t) => t.record?.receivedBodyTruncated ?? null),
  column('sealed_with', 'uuid', UUID, (t) => t.record?.sealedWith ?? null),
  column('sealed', 'bytea', BYTEA, (t) => t.record?.sealed ?? null),
]

/** Whether a dead letter of the delivery `d` stops the others of its key. */
export const HOLDS_KEY = `(
  select a.delivery_policy::jsonb #>> '{order,onDeadLetter}' from actions a where a.id = d.action_id) = 'hold'`

/** Keeps PostgreSQL from reading the whole index of pending attempts, with all that have ended since the last vacuum. */
const IS_PENDING = "coalesce(a.state, '') = 'Pending'"

/**
 * `$1` is now. `$2` has ids of actions: if one of them has an open incident or failures to forget, nothing is done, and the statement returns
 * one row without an id.
 */
const FINISH = statement(
  'finish attempts',
  `with ended as (
    select * from unnest(${COLUMNS.map(({ type }, index) => `$${index + 3}::${type}[]`).join(', ')})
      as e (${COLUMNS.map(({ name }) => name).join(', ')})
  ), incident as (
    (select from incidents
    where kind = 'delivery.parked' and subject_id = any($2::uuid[]) and closed_at is null limit 1)
    union all (select from failing_actions where action_id = any($2::uuid[]) limit 1)
  ), finished as (
    update delivery_attempts a set
      state = e.state, status_code = e.status_code, error = e.error, finished_at = e.finished_at,
      duration_ms = e.duration_ms, next_attempt_at = e.next_attempt_at, transformed = e.transformed,
      transformation_version = e.transformation_version, transform_note = e.transform_note,
      storage_bytes = ${attemptBytesOf('a', 'e')}
    from ended e
    where a.endpoint_id = e.endpoint_id and a.id = e.attempt_id and ${IS_PENDING}
      and not exists (select from incident)
    returning a.endpoint_id, a.id, a.delivery_id, a.attempt_number, a.storage_bytes, e.disposition, e.next_attempt_at
  ), kept as (
    insert into attempt_details (endpoint_id, attempt_id, request_id, sent_method, sent_url, sent_headers, sent_body,
      sent_body_truncated, received_status_code, received_headers, received_body, received_body_truncated, sealed_with, sealed, storage_bytes)
    select e.endpoint_id, e.attempt_id, e.request_id, e.sent_method, e.sent_url, e.sent_headers, e.sent_body,
           e.sent_cut, e.status_code, e.received_headers, e.received_body, e.received_cut, e.sealed_with, e.sealed, ${recordBytesOf('e')}
    from ended e join finished f on f.endpoint_id = e.endpoint_id and f.id = e.attempt_id
    where e.sent_method is not null
    returning endpoint_id, storage_bytes
  ), counted as (
    ${addAttemptBytes(`
      select endpoint_id, sum(storage_bytes)::bigint
      from (select endpoint_id, storage_bytes from finished union all select endpoint_id, storage_bytes from kept) rows
      group by endpoint_id`)}
  ), removed as (
    delete from deliveries d using finished f
    where d.id = f.delivery_id and d.endpoint_id = f.endpoint_id and f.disposition = 'over'
  ), moved as (
    update deliveries d set
      attempt_count = f.attempt_number,
      next_attempt_at = coalesce(f.next_attempt_at, d.next_attempt_at),
      finished_at = case when f.disposition = 'deadLettered' then $1::timestamptz end,
      dead_lettered_at = case when f.disposition = 'deadLettered' then $1::timestamptz end,
      flow_due_at = case when d.flow_state is not null then coalesce(f.next_attempt_at, d.next_attempt_at) end,
      flow_state = case
        when d.flow_state is null then null
        when f.disposition = 'again' then 'waiting'
        when d.order_key is not null and ${HOLDS_KEY} then 'held'
      end
    from finished f where d.id = f.delivery_id and d.endpoint_id = f.endpoint_id and f.disposition <> 'over'
  )
  select f.id from finished f
  union all
  select null from incident`,
)

/**
 * Finishes rows that are still Pending, records what was sent and received, and ends, dead-letters or reschedules their
 * deliveries. It is one statement for a whole batch, because deliveries wait for slots during every round trip of the
 * recorder. The caller announces the change once it is committed.
 *
 * @returns ids of the attempts that were finished. The others ended otherwise in the meantime and did not change
 */
export async function finishAttempts(
  { secrets }: Pick<Services, 'secrets'>,
  trx: Trx,
  attempts: readonly FinishedAttempt[],
  now: Date,
): Promise<Set<number>> {
  const ids = await finish(secrets, trx, attempts, now, [])
  return new Set(ids.filter((id) => id !== null))
}

/**
 * {@link finishAttempts} as a single statement without a transaction, for attempts whose end changes nothing else.
 *
 * @param actionIds ids of their actions
 * @returns false, and nothing is done, if one of the actions has an open incident or failures to forget
 */
export async function finishAlone(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  attempts: readonly FinishedAttempt[],
  now: Date,
  actionIds: readonly string[],
): Promise<boolean> {
  return !(await finish(secrets, db, attempts, now, actionIds)).includes(null)
}

async function finish(
  secrets: Services['secrets'],
  db: Db,
  attempts: readonly FinishedAttempt[],
  now: Date,
  actionIds: readonly string[],
) {
  const stored = attempts.map((attempt) => ({ ...attempt, record: recordToStore(secrets, attempt) }))
  const rows = await run(db, FINISH, [now, actionIds, ...COLUMNS.map(({ encode }) => encode(stored))])
  return rows.map(({ id }) => id)
}

/** The record of an attempt, sealed with the key of its request; null if nothing was sent. */
function recordToStore(secrets: Services['secrets'], { sealing, sent, received }: FinishedAttempt) {
  if (sent === null) return null
  const record = recordOf(sent, received)
  // Captured bytes that went out untouched are not kept twice. A sealed record has them: it outlives the request.
  const isKept = sealing !== null || !sent.bodyIsCaptured
  return sealedRecord(secrets, sealing, isKept ? record : { ...record, sentBody: null })
}
