import { type Occasion, openIncident } from '../alerts/index.ts'
import type { Services } from '../api/services.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { type Db, run, statement, type Trx, valuesOf } from '../platform/db/index.ts'
import { LANES_OF_ACTIONS } from './flow/statements.ts'
import { flowsOf, wakeFlows } from './flow/wake.ts'
import {
  type DeliveriesOf,
  insertAttempts,
  lockOpenDeliveries,
  type OpenDelivery,
  occasionOfRow,
  removeDeliveries,
} from './queries.ts'
import { countAttempts } from './storageBytes.ts'

type DeliveryServices = Pick<Services, 'clock' | 'enqueue'>

/** A delivery that waits in its lane. */
type WaitingDelivery = Pick<OpenDelivery, 'id' | 'actionId' | 'workspaceId' | 'flowState'>

/** Makes waiting deliveries `$1` due at `$2`. */
const MAKE_DUE = statement(
  'make deliveries due',
  `update deliveries set flow_due_at = $2::timestamptz
  where id = any($1::bigint[]) and flow_state = 'waiting' and flow_due_at > $2::timestamptz`,
)

/**
 * Leads to looks at the lanes of actions that were just switched on or are no longer suspended. Safe to call for
 * actions that were on.
 */
export async function resumeDeliveries(
  services: DeliveryServices,
  trx: Trx,
  actionIds: readonly string[],
): Promise<void> {
  if (actionIds.length === 0) return
  await wakeFlows(services, trx, await run(trx, LANES_OF_ACTIONS, [actionIds]), 'change')
}

/** Makes the next attempts of deliveries due at once. */
export async function attemptNow(
  services: DeliveryServices,
  trx: Trx,
  deliveries: readonly WaitingDelivery[],
): Promise<void> {
  if (deliveries.length === 0) return
  await run(trx, MAKE_DUE, [deliveries.map(({ id }) => id), services.clock.now()])
  await wakeFlows(services, trx, flowsOf(deliveries), 'change')
}

/** Deliveries that one statement of {@link dropMost} deletes. */
const DROPPED_AT_ONCE = 1_000

const DROP_WAITING = statement(
  'drop waiting deliveries',
  `delete from deliveries where id in (
    select id from deliveries where action_id = $1::uuid and flow_state = $2::text order by id desc limit ${DROPPED_AT_ONCE}
  ) returning id`,
  { isPrepared: false },
)

/**
 * Drops what waits for an action that is about to be deleted, in short transactions, as {@link dropDeliveries} for millions
 * would take too long. The newest go first, so that none frees the next of its key.
 */
export async function dropMost(db: Db, actionId: string): Promise<void> {
  for (const state of ['behind', 'waiting'])
    while ((await run(db, DROP_WAITING, [actionId, state])).length === DROPPED_AT_ONCE);
}

/** Drops the deliveries of an action that is being deleted, dead letters too. An attempt in flight is not stopped. */
export async function dropDeliveries(trx: Trx, actionId: string): Promise<void> {
  await trx.deleteFrom('deliveries').where('actionId', '=', actionId).execute()
}

/**
 * Ends open deliveries whose request is about to be deleted. Each gets one attempt row in state `DeadLetter` with the
 * reason. Nothing is left to replay, so the deliveries do not stay as dead letters. Their incidents open or count.
 * Deliveries of notify actions end as `Errored` without an incident, because its alert would be about their own channel.
 * The caller has locked the counters of the endpoint, as captures and erasures do before they touch deliveries.
 */
export async function endDeliveries(
  services: DeliveryServices,
  trx: Trx,
  of: DeliveriesOf,
  error: 'evicted' | 'retention',
): Promise<void> {
  const deliveries = await lockOpenDeliveries(trx, of)
  if (deliveries.length === 0) return
  const now = services.clock.now()
  const ids = await insertAttempts(
    trx,
    deliveries.map((delivery) => ({
      ...delivery,
      deliveryId: delivery.id,
      state: delivery.kind === 'notify' ? 'Errored' : 'DeadLetter',
      attemptNumber: delivery.attemptCount + 1,
      trigger: delivery.attemptCount === 0 ? delivery.trigger : 'retry',
      error,
      url: delivery.url ?? '',
      at: now,
      finishedAt: now,
      durationMs: 0,
    })),
  )
  for (const [endpointId, group] of Map.groupBy(deliveries, (delivery) => delivery.endpointId)) {
    const attemptIds = group.flatMap(({ id }) => ids.get(id) ?? [])
    await countAttempts(trx, endpointId, attemptIds)
  }
  await removeDeliveries(trx, valuesOf(deliveries, 'id'))
  await wakeFlows(services, trx, flowsOf(deliveries), 'end')
  const deadLetters = deliveries.filter(({ kind }) => kind !== 'notify')
  await openDeadLetterIncidents(services, trx, deadLetters, error)
  await announceEndpointChange(trx, ...deliveries.map(({ endpointId }) => endpointId))
}

const KEEP_ACTIONS = statement(
  'keep actions',
  'select id from actions where id = any($1::uuid[]) order by id for key share',
)

/**
 * Opens or counts the dead-letter incidents of actions that exist, which are not deleted before the transaction ends: an
 * incident of a deleted one would never close.
 */
export async function openParked(
  services: DeliveryServices,
  trx: Trx,
  outages: readonly (Occasion & { readonly count: number })[],
): Promise<void> {
  if (outages.length === 0) return
  const kept = await run(trx, KEEP_ACTIONS, [outages.map(({ subject }) => subject.id)])
  const present = new Set(valuesOf(kept, 'id'))
  for (const outage of outages)
    if (present.has(outage.subject.id))
      await openIncident(services, trx, { kind: 'delivery.parked', ...outage })
}

/** {@link openParked}, by the latest delivery of each action. */
export async function openDeadLetterIncidents(
  services: DeliveryServices,
  trx: Trx,
  deliveries: readonly OpenDelivery[],
  reason: string,
): Promise<void> {
  const groups = [...Map.groupBy(deliveries, ({ actionId }) => actionId).values()]
  const outages = groups.flatMap((group) =>
    group.slice(-1).map((last) => ({ ...occasionOfRow(last), reason, count: group.length })),
  )
  await openParked(services, trx, outages)
}

/** Open deliveries of the action `$1` that a rule has held since their latest attempt. */
const FIND_HELD = statement(
  'find deliveries held by rules',
  `select d.id, d.workspace_id, d.action_id, d.flow_state
  from deliveries d
  join delivery_attempts t on t.delivery_id = d.id and t.attempt_number = d.attempt_count and t.endpoint_id = d.endpoint_id
  where d.action_id = $1::uuid and d.flow_state = 'waiting' and t.error ~ '^rule_(disabled|fault)'
  order by d.id`,
)

/** Retries deliveries that an action's rules have held, now that none of them holds any more. */
export async function releaseHeld(
  services: Pick<Services, 'enqueue' | 'clock'>,
  trx: Trx,
  actionId: string,
): Promise<void> {
  await attemptNow(services, trx, await run(trx, FIND_HELD, [actionId]))
}
