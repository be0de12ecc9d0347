import type { Services } from '../../api/services.ts'
import type { StartPlace } from '../../dispatch/index.ts'
import { announceEndpointChange } from '../../platform/changes/index.ts'
import { run, statement, type Trx } from '../../platform/db/index.ts'
import { dueBy, RESERVE_START } from './statements.ts'

type FlowServices = Pick<Services, 'db' | 'clock'>

const WAIT_FOR_FLOW = statement('wait for flow', 'select from action_flows where action_id = $1 for update')

/**
 * Locks the flow of an action until the transaction ends, after any look at it that is in progress. No attempt begins
 * under the old settings after this transaction.
 */
export async function lockFlow(trx: Trx, actionId: string): Promise<void> {
  await run(trx, WAIT_FOR_FLOW, [actionId])
}

/** Ends a drain once no delivery of the action is due. Later retries do not prolong it. */
const END_DRAIN = statement(
  'end drain',
  `update actions a set drain_per_second = null
  where a.id = $1 and a.drain_per_second is not null and a.paused_at is null
    and not exists (
      select from deliveries d where d.action_id = a.id and ${dueBy('$2')})
    and not exists (select from deliveries d where d.action_id = a.id and d.flow_state = 'behind')
  returning endpoint_id`,
)

const POSTPONE_FIRST = statement(
  'postpone first of flow',
  `update deliveries set flow_due_at = $3::timestamptz
  where id = (
    select id from deliveries
    where action_id = $1 and ${dueBy('$2')}
    order by priority, flow_due_at, id limit 1)`,
)

/**
 * Reserves a new time for a start that was missed, after every start that was reserved later.
 *
 * @returns when it may go out, in milliseconds of the database's clock; null when the action is gone
 */
export async function reserveStart(
  { db }: Pick<FlowServices, 'db'>,
  actionId: string,
  { missed, earliest, spacingMs }: StartPlace,
): Promise<number | null> {
  const [row] = await run(db, RESERVE_START, [actionId, new Date(earliest), spacingMs, new Date(missed)])
  return row?.startAt?.getTime() ?? null
}

/** Lifts the pace of a drain once nothing of the action is due any more. */
export async function endDrain({ db, clock }: FlowServices, actionId: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const [row] = await run(trx, END_DRAIN, [actionId, clock.now()])
    if (row !== undefined) await announceEndpointChange(trx, row.endpointId)
  })
}

/** Postpones the delivery that is due first and could not be begun, so that it does not block the others. */
export async function postponeFirst(
  { db, clock }: FlowServices,
  actionId: string,
  afterMs: number,
): Promise<void> {
  const now = clock.now()
  await run(db, POSTPONE_FIRST, [actionId, now, new Date(now.getTime() + afterMs)])
}
