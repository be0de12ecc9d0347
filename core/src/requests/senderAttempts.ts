import { sql } from 'kysely'

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
