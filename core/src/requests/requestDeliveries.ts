import { type Db, type RowsOf, run, statement } from '../platform/db/index.ts'
import { sendsRequest } from './state.ts'

/** Reads the deliveries of the endpoint `$1` and the request `$2`. */
const DELIVERIES_OF_REQUEST = statement(
  'deliveries of request',
  `with tried as (
    select action_id, (array_agg(action_name order by id desc))[1] as action_name, min(kind) as kind,
           (array_agg(state order by id desc) filter (where ${sendsRequest('t')}))[1] as state,
           (array_agg(state order by id desc))[1] as latest, count(*)::int as attempt_count,
           max(at) as last_attempt_at, min(at) as since
    from delivery_attempts t where endpoint_id = $1 and request_id = $2
    group by action_id
  ), queued as (
    select action_id, max(action_name) as action_name, min(kind) as kind,
           min(next_attempt_at) as next_attempt_at, min(created_at) as since
    from deliveries
    where endpoint_id = $1 and request_id = $2 and finished_at is null
    group by action_id
  )
  select a.id as action_id, coalesce(a.name, t.action_name, q.action_name) as action_name,
         coalesce(t.kind, q.kind) as kind, coalesce(t.state, case when q.kind is null then t.latest end, 'Pending') as state,
         coalesce(t.attempt_count, 0) as attempt_count, t.last_attempt_at, q.next_attempt_at
  from tried t
  full join queued q using (action_id)
  left join actions a on a.id = action_id
  order by least(t.since, q.since), a.position, action_id`,
  // Each row is of an attempt or a queued delivery.
  { notNull: ['actionName', 'kind'] },
)

/** State of a request's delivery through one action, its replays included. */
export type DeliveryOfRequestRow = RowsOf<typeof DELIVERIES_OF_REQUEST>

/**
 * Reads one row for each action, in the order in which they were first attempted or queued. Attempts of a deleted
 * action stay, with `actionId` null; its queued deliveries are gone.
 */
export async function deliveriesOfRequest(
  db: Db,
  endpointId: string,
  requestId: number,
): Promise<readonly DeliveryOfRequestRow[]> {
  return await run(db, DELIVERIES_OF_REQUEST, [endpointId, requestId])
}
