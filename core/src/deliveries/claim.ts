import type { Services } from '../api/services.ts'
import { run, statement, valuesOf } from '../platform/db/index.ts'
import {
  findOriginals,
  hasOriginal,
  STORED_REQUEST_COLUMNS,
  storedRequest,
  withLongBodies,
} from '../requests/index.ts'
import { loadRuleSets, NO_RULE_SET } from '../transformations/index.ts'
import type { Attempt } from './attempt.ts'
import { attemptOf, forwardActions, leaseFrom, leaseSql, withOriginal } from './attemptOf.ts'
import {
  ACTION_OFF_HOURS,
  columnOf,
  type DueAttempt,
  type DueRow,
  dueParameters,
  SELECT_DUE,
} from './dueAttempts.ts'
import type { LaneRow } from './flow/statements.ts'

/**
 * Members of a due attempt that forwards need beside the row of their lane. SQL names them as the type does: renaming
 * many rows takes as long as reading.
 */
const READ = [
  ...STORED_REQUEST_COLUMNS,
  'omittedBytes',
  'deliveryId',
  'attempt',
  'trigger',
  'requestId',
  'actionId',
  'redaction',
  'sealedWith',
  'sealed',
  'sealedKey',
] as const satisfies readonly (keyof DueRow)[]

export type ClaimServices = Pick<Services, 'db' | 'clock' | 'workerId' | 'secrets' | 'plans' | 'log'>

export interface Claimed {
  /** The forwards to make now, those that end unsent included. */
  readonly attempts: readonly Attempt[]
  /** Attempts that cannot be made now. */
  readonly others: readonly DueAttempt[]
}

/**
 * `$3` is now, `$4` the end of a lease of the usual length, `$5` the process that makes the attempts. A look has taken
 * the deliveries. Two claims of the same attempt meet in `delivery_attempts_by_delivery`: one of them inserts nothing.
 * The new attempts are arrays: PostgreSQL expects one row, and would join 128 × 128 of them in a loop.
 */
const CLAIM_FORWARDS = statement(
  'claim forwards',
  `with due as (
    select d.*, d.kind = 'forward' and d.sealed_until is null and d.flow_state = 'sending' and (d.is_active and not d.suspended_by_plan
      or coalesce($3::timestamptz >= d.off_since + interval '${ACTION_OFF_HOURS} hours', false)) as is_ready
    from (${SELECT_DUE}) d
  ), begun as (
    insert into delivery_attempts (endpoint_id, delivery_id, workspace_id, request_id, action_id, action_name, kind,
      state, attempt_number, trigger, url, at, lease_until, worker_id)
    select endpoint_id, delivery_id, workspace_id, request_id, action_id, action_name, kind,
      'Pending', attempt, case when attempt = 1 then trigger else 'retry' end, url, $3::timestamptz,
      ${leaseSql('delivery_policy', '$3::timestamptz', '$4::timestamptz')}, $5::int
    from due
    where is_ready
    on conflict (delivery_id, attempt_number, endpoint_id) where delivery_id is not null do nothing
    returning id, delivery_id
  ), made as materialized (
    select array_agg(id) as ids, array_agg(delivery_id) as deliveries from begun
  )
  select ${READ.map((member) => `due.${columnOf(member)} as "${member}"`).join(', ')},
         due.is_ready as "isReady", made.ids[array_position(made.deliveries, due.delivery_id)] as "attemptId"
  from due cross join made
  order by due.delivery_id`,
)

/**
 * Begins forwards that a look has taken: writes their Pending rows, with the lease, before anything is sent. It is one statement, durable
 * when it returns. Safe to call twice for the same attempt: only one caller gets it.
 *
 * An attempt that is lost after that is recovered as Interrupted, when its lease ends or its process is silent.
 *
 * @param services `db` is the transaction that took them
 * @param lanes the lanes of the deliveries by their ids, as the same look has read them
 */
export async function claimForwards(
  services: ClaimServices,
  lanes: ReadonlyMap<string, LaneRow>,
  due: readonly DueAttempt[],
): Promise<Claimed> {
  if (due.length === 0) return { attempts: [], others: [] }
  const now = services.clock.now()
  const found = await run(services.db, CLAIM_FORWARDS, [
    ...dueParameters(due),
    now,
    leaseFrom(now),
    services.workerId,
  ])
  const begun = found.filter(({ attemptId }) => attemptId !== null)
  const rows = await withLongBodies(services.db, begun)
  const shaped = rows.filter(({ actionId }) => lanes.get(actionId)?.hasRules)
  const ruleSets = await loadRuleSets(services.db, valuesOf(shaped, 'actionId'))
  const originals = await findOriginals(
    services,
    services.db,
    rows.filter(({ redaction }) => hasOriginal(redaction)),
  )
  const attempts: Attempt[] = []
  const actionOf = forwardActions(services.secrets, now)
  for (const row of rows) {
    const lane = lanes.get(row.actionId)
    if (row.attemptId === null || lane === undefined) continue
    const rules = ruleSets.get(row.actionId) ?? NO_RULE_SET
    try {
      const taken = { ...lane, ...row }
      const claim = { id: row.attemptId, startedAt: now, action: actionOf(taken), rules }
      attempts.push(withOriginal(attemptOf(services, taken, storedRequest(row), claim), row, originals))
    } catch (err) {
      // A secret that cannot be opened fails this delivery only.
      services.log.error({ err, deliveryId: row.deliveryId }, 'could not start a delivery')
    }
  }
  // An attempt that is ready and has no row of this claim was taken by another worker.
  const ready = new Set(found.filter(({ isReady }) => isReady).map(({ deliveryId }) => deliveryId))
  return { attempts, others: due.filter(({ deliveryId }) => !ready.has(deliveryId)) }
}
