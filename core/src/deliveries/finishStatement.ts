import { sql } from 'kysely'
import type { Trx } from '../db/index.ts'
import type { WireHeader } from '../requests/capturedRequest.ts'
import type { RulesApplied } from '../transformations/index.ts'
import type { SentMessage } from './attempt.ts'
import { headersToText, RECORDED_BODY_BYTES, recorded } from './details.ts'
import type { AttemptState } from './states.ts'

/** What the end of a try means for its run. */
export type Fate = 'over' | 'parked' | 'again'

/** A try that has ended, as its rows will say. */
export interface FinishedTry extends RulesApplied {
  readonly endpointId: string
  readonly attemptId: number
  readonly requestId: number
  readonly state: AttemptState
  readonly statusCode: number | null
  readonly error: string | null
  readonly finishedAt: Date
  readonly durationMs: number
  readonly nextAttemptAt: Date | null
  readonly fate: Fate
  readonly sent: SentMessage | null
  readonly received: {
    readonly statusCode: number
    readonly headers: readonly WireHeader[]
    readonly body: Uint8Array
    readonly bodyTruncated: boolean
  } | null
}

/**
 * Finishes rows that are still Pending, keeps what was sent and received, ends, parks or reschedules their runs,
 * and wakes whoever waits for a state: one statement for a whole batch, because every round trip of the
 * recorder is time in which deliveries wait for slots.
 *
 * @returns the attempts that were finished; the others ended otherwise in the meantime, and nothing of them changed
 */
export async function finishTries(trx: Trx, tries: readonly FinishedTry[], now: Date): Promise<Set<number>> {
  const column = <Value>(value: (one: FinishedTry) => Value) => tries.map(value)
  const { rows } = await sql<{ id: number }>`
    with ended as (
      select * from unnest(
        ${column((t) => t.endpointId)}::uuid[], ${column((t) => t.attemptId)}::bigint[],
        ${column((t) => t.requestId)}::bigint[], ${column((t) => t.state)}::text[],
        ${column((t) => t.statusCode)}::int[], ${column((t) => t.error)}::text[],
        ${column((t) => t.finishedAt)}::timestamptz[], ${column((t) => t.durationMs)}::int[],
        ${column((t) => t.nextAttemptAt)}::timestamptz[], ${column((t) => t.transformed)}::boolean[],
        ${column((t) => t.transformationVersion)}::int[], ${column((t) => t.transformNote)}::text[],
        ${column((t) => t.fate)}::text[], ${column((t) => t.sent?.method ?? null)}::text[],
        ${column((t) => t.sent?.url ?? null)}::text[], ${column((t) => headersText(t.sent?.headers))}::text[],
        ${column((t) => sentBody(t.sent))}::bytea[], ${column((t) => isCut(t.sent?.body))}::boolean[],
        ${column((t) => headersText(t.received?.headers))}::text[],
        ${column((t) => (t.received === null ? null : recorded(t.received.body)))}::bytea[],
        ${column((t) => t.received?.bodyTruncated ?? null)}::boolean[]
      ) as e (endpoint_id, attempt_id, request_id, state, status_code, error, finished_at, duration_ms,
              next_attempt_at, transformed, transformation_version, transform_note, fate, sent_method, sent_url,
              sent_headers, sent_body, sent_cut, received_headers, received_body, received_cut)
    ), finished as (
      update delivery_attempts a set
        state = e.state, status_code = e.status_code, error = e.error, finished_at = e.finished_at,
        duration_ms = e.duration_ms, next_attempt_at = e.next_attempt_at, transformed = e.transformed,
        transformation_version = e.transformation_version, transform_note = e.transform_note
      from ended e
      where a.endpoint_id = e.endpoint_id and a.id = e.attempt_id and a.state = 'Pending'
      returning a.endpoint_id, a.id, a.delivery_id, a.attempt_number, e.fate, e.next_attempt_at
    ), kept as (
      insert into attempt_details (endpoint_id, attempt_id, request_id, sent_method, sent_url, sent_headers, sent_body,
        sent_body_truncated, received_status_code, received_headers, received_body, received_body_truncated)
      select e.endpoint_id, e.attempt_id, e.request_id, e.sent_method, e.sent_url, e.sent_headers, e.sent_body,
             e.sent_cut, e.status_code, e.received_headers, e.received_body, e.received_cut
      from ended e join finished f on f.endpoint_id = e.endpoint_id and f.id = e.attempt_id
      where e.sent_method is not null
    ), removed as (
      delete from deliveries d using finished f where d.id = f.delivery_id and f.fate = 'over'
    ), moved as (
      update deliveries d set
        attempt_count = f.attempt_number,
        next_attempt_at = coalesce(f.next_attempt_at, d.next_attempt_at),
        finished_at = case when f.fate = 'parked' then ${now}::timestamptz end,
        parked_at = case when f.fate = 'parked' then ${now}::timestamptz end
      from finished f where d.id = f.delivery_id and f.fate <> 'over'
    ), told as (
      select pg_notify('creel_endpoints', endpoint_id::text) from (select distinct endpoint_id from finished) f
    )
    select f.id, (select count(*) from told) from finished f`.execute(trx)
  return new Set(rows.map(({ id }) => id))
}

function headersText(headers: readonly WireHeader[] | undefined): string | null {
  return headers === undefined ? null : headersToText(headers)
}

/** Captured bytes that went out untouched are not kept twice. */
function sentBody(sent: SentMessage | null): Buffer | null {
  return sent === null || sent.bodyIsCaptured ? null : recorded(sent.body)
}

function isCut(body: Uint8Array | undefined): boolean | null {
  return body === undefined ? null : body.length > RECORDED_BODY_BYTES
}
