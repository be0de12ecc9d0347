import { sql } from 'kysely'

/**
 * SQL of the state of `requests as r`: that of its newest attempt, else `Pending` while a delivery is open, else the
 * decision of the capture. `NotAttempted` when the deliveries were dropped before any attempt.
 */
export const STATE = `
  coalesce(
    (select a.state from delivery_attempts a
     where a.endpoint_id = r.endpoint_id and a.request_id = r.id order by a.id desc limit 1),
    case
      -- Not "exists", for which a page of rows may have the whole queue read into a hash table.
      when (
        select true from deliveries d
        where d.endpoint_id = r.endpoint_id and d.request_id = r.id and d.finished_at is null limit 1) then 'Pending'
      when r.dispatch_state = 'Skipped' then 'Skipped'
      else 'NotAttempted'
    end)`

/** SQL of the number of attempts at the deliveries of `requests as r`. */
export const ATTEMPT_COUNT = `
  (select count(*)::int from delivery_attempts a where a.endpoint_id = r.endpoint_id and a.request_id = r.id)`

/** {@link STATE} as a part of a query. */
export const requestState = sql.raw<string>(STATE)

/** {@link ATTEMPT_COUNT} as a part of a query. */
export const attemptCount = sql.raw<number>(ATTEMPT_COUNT)
