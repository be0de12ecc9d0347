import { sql } from 'kysely'
import { type RequestState, requestStateOf } from '../engine/words/index.ts'

/** SQL of the state of `requests as r` before any attempt. `NotAttempted`: also when its deliveries were dropped. */
const CAPTURED = "case when r.dispatch_state = 'Skipped' then 'Skipped' else 'NotAttempted' end"

/** SQL of whether an attempt is live traffic: no rehearsal. */
export const isLive = (attempt: string) => `${attempt}.trigger <> 'rehearsal'`

/**
 * SQL of the state of `requests as r`: that of its newest attempt, else `Pending` while a delivery is open, else the
 * decision of the capture. For conditions; {@link OUTCOMES} has it, too.
 */
const STATE = `
  coalesce(
    (select a.state from delivery_attempts a
     where a.endpoint_id = r.endpoint_id and a.request_id = r.id and ${isLive('a')} order by a.id desc limit 1),
    -- Not "exists", for which a page of rows may have the whole queue read into a hash table.
    (select 'Pending' from deliveries d
     where d.endpoint_id = r.endpoint_id and d.request_id = r.id and d.finished_at is null limit 1),
    ${CAPTURED})`

/** SQL of whether an attempt sent the request itself: neither a rehearsal nor an edited one. */
export const sendsRequest = (attempt: string) => `${attempt}.trigger not in ('edited', 'rehearsal')`

/**
 * SQL of a row for each action of `requests as r`: the state of its newest attempt that sent the request, `Pending`
 * before the first. `latest` is that of edited ones, too.
 */
const BY_ACTION = `
  (select t.action_id, max(t.id) as id, (array_agg(t.state order by t.id desc))[1] as latest,
          (array_agg(t.state order by t.id desc) filter (where t.sends))[1] as state,
          count(*) filter (where t.id > 0) as attempts
   from (
     select a.action_id, a.id, a.state, ${sendsRequest('a')} as sends from delivery_attempts a
     where a.endpoint_id = r.endpoint_id and a.request_id = r.id and ${isLive('a')}
     union all
     select d.action_id, 0, 'Pending', true from deliveries d
     where d.endpoint_id = r.endpoint_id and d.request_id = r.id and d.finished_at is null
   ) t
   group by t.action_id) newest`

const FAILED = "newest.state in ('Failed', 'Errored', 'Interrupted')"
const DEAD_LETTER = "newest.state = 'DeadLetter'"
/** SQL of an action that is still there: there is nothing to do about the deliveries of a deleted one. */
const IS_THERE = 'exists (select from actions c where c.id = newest.action_id)'

/**
 * SQL of a list of texts for `requests as r`, in one look at its attempts: its state, their number, and the numbers of
 * {@link DeliveryCounts} in their order. {@link outcomeOf} names them.
 */
export const OUTCOMES = `
  (select array[
     coalesce((array_agg(newest.latest order by newest.id desc))[1], ${CAPTURED}),
     coalesce(sum(newest.attempts), 0)::text,
     (count(*) filter (where newest.state = 'Succeeded' and ${IS_THERE}))::text,
     (count(*) filter (where ${FAILED} and ${IS_THERE}))::text,
     (count(*) filter (where newest.state = 'Pending' and ${IS_THERE}))::text,
     (count(*) filter (where ${DEAD_LETTER} and ${IS_THERE}))::text
   ]
   from ${BY_ACTION})`

/**
 * Number of actions of a request by the result of the newest attempt of each. Deleted actions and edited requests do not
 * count.
 */
interface DeliveryCounts {
  readonly succeeded: number
  readonly failed: number
  /** An attempt is under way, or the first one is due. */
  readonly waiting: number
  readonly deadLettered: number
}

/** Results of a request's deliveries. */
export interface Outcome {
  /** State of the latest delivery. */
  readonly state: RequestState
  readonly attemptCount: number
  readonly deliveryCounts: DeliveryCounts
}

/** Names the texts of {@link OUTCOMES}. */
export function outcomeOf({ outcomes }: { readonly outcomes: readonly string[] }): Outcome {
  const [state = '', ...texts] = outcomes
  const [attemptCount = 0, succeeded = 0, failed = 0, waiting = 0, deadLettered = 0] = texts.map(Number)
  return {
    state: requestStateOf(state),
    attemptCount,
    deliveryCounts: { succeeded, failed, waiting, deadLettered },
  }
}

/** {@link STATE} as a part of a query. */
export const requestState = sql.raw<string>(STATE)

/** {@link OUTCOMES} as a part of a query. */
export const outcomes = sql.raw<readonly string[]>(OUTCOMES)

const hasSome = (what: string) =>
  sql.raw<boolean>(`(select count(*) > 0 from ${BY_ACTION} where (${what}) and ${IS_THERE})`)

/** SQL of whether the newest attempt of some action of `requests as r` failed, or is a dead letter. */
export const hasFailures = hasSome(`${FAILED} or ${DEAD_LETTER}`)

/** SQL of whether the newest attempt of some action of `requests as r` is a dead letter. */
export const hasDeadLetters = hasSome(DEAD_LETTER)

/**
 * The highest number that is counted. It bounds the cost of a page when one id is sent very often. Senders give up long
 * before.
 */
export const SENDER_ATTEMPT_MAX = 100

/** SQL for whether the sender sent the request with an event id. An imported request was not sent. */
const IS_SENT = 'r.event_id is not null and not r.imported'

/** SQL for earlier requests of the same event. Served by the index of requests that have an event id. */
const EARLIER = `
  from requests e
  where e.endpoint_id = r.endpoint_id and e.event_id = r.event_id and e.id < r.id
    and e.deleted_at is null and e.hidden_at is null and not e.imported`

/**
 * SQL of the sender's attempt number for `requests as r`: how many stored requests of the endpoint have its event, up
 * to this one. From 1 to {@link SENDER_ATTEMPT_MAX}; null without an event id and for an imported request.
 */
export const SENDER_ATTEMPT = `
  case when ${IS_SENT} then
    (select count(*)::int + 1 from (select ${EARLIER} limit ${SENDER_ATTEMPT_MAX - 1}) earlier) end`

/** SQL of the id of the first stored request with the event of `requests as r`; null if it is the first itself. */
export const FIRST_REQUEST_ID = `
  case when ${IS_SENT} then (select e.id ${EARLIER} order by e.id limit 1) end`

/** {@link SENDER_ATTEMPT} as a part of a query. */
export const senderAttempt = sql.raw<number | null>(SENDER_ATTEMPT)

/** {@link FIRST_REQUEST_ID} as a part of a query. */
export const firstRequestId = sql.raw<number | null>(FIRST_REQUEST_ID)
