import { sql } from 'kysely'
import type { Db } from '../db/index.ts'

/** What became of a request at one action, over the capture's run and its replays. */
export interface DeliveryOfRequestRow {
  readonly actionId: string | null
  readonly actionName: string
  readonly kind: string
  readonly state: string
  readonly attemptCount: number
  readonly lastAttemptAt: Date | null
  readonly nextAttemptAt: Date | null
}

/** One row an action, in the order in which they were first queued. Runs that were dropped before a try are left out. */
export async function deliveriesOfRequest(
  db: Db,
  endpointId: string,
  requestId: number,
): Promise<DeliveryOfRequestRow[]> {
  const { rows } = await sql<DeliveryOfRequestRow>`
    select action_id,
           (array_agg(action_name order by id desc))[1] as action_name,
           (array_agg(kind))[1] as kind,
           (array_agg(state order by last_attempt_id desc nulls last, id desc))[1] as state,
           sum(attempt_count)::int as attempt_count,
           max(last_attempt_at) as last_attempt_at,
           min(next_attempt_at) filter (where finished_at is null) as next_attempt_at
    from deliveries
    where endpoint_id = ${endpointId} and request_id = ${requestId}
      and (attempt_count > 0 or finished_at is null)
    group by action_id, case when action_id is null then action_name end
    order by min(id)`.execute(db)
  return rows
}
