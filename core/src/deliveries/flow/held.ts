import { closeIncidents, lockOpen, type Occasion, openIncident } from '../../alerts/index.ts'
import type { Services } from '../../api/services.ts'
import { run, statement, type Trx, valuesOf } from '../../platform/db/index.ts'
import type { Attempt } from '../attempt.ts'
import { HOLDS_KEY } from '../finishStatement.ts'
import { lockFlow } from './upkeep.ts'
import { flowsOf, wakeFlows } from './wake.ts'

type HeldServices = Pick<Services, 'clock' | 'enqueue'>

const FIND_HELD = statement(
  'find deliveries that hold keys',
  `select id, request_id from deliveries where id = any($1::bigint[]) and flow_state = 'held' order by id`,
)

/** Frees the keys that requests `$2` of the action `$1` hold. A trigger releases the next delivery of each key. */
const FREE_REQUESTS = statement(
  'free held requests',
  `update deliveries set flow_state = null
  where action_id = $1 and flow_state = 'held' and request_id = any($2::bigint[])
  returning workspace_id`,
)

const FREE_UNHELD = statement(
  'free keys that the policy does not hold',
  `update deliveries d set flow_state = null
  where d.id = any($1::bigint[]) and d.flow_state = 'held' and ${HOLDS_KEY} is not true
  returning workspace_id`,
)

const FREE_ALL = statement(
  'free all held',
  `update deliveries set flow_state = null where action_id = $1 and flow_state = 'held' returning workspace_id`,
)

const IS_ANY_HELD = statement(
  'is any held',
  `select from deliveries where action_id = $1 and flow_state = 'held' limit 1`,
)

/** A delivery with the facts that its incident shows. */
type OfDelivery = Pick<Attempt, 'deliveryId'> & Omit<Occasion, 'reason'>

const idsOf = (ended: readonly Pick<OfDelivery, 'deliveryId'>[]): readonly number[] =>
  ended.flatMap(({ deliveryId }) => (deliveryId === null ? [] : [deliveryId]))

/**
 * Frees the keys of dead letters that were to hold them by a policy that has changed since their transaction began. The
 * flow is locked for that, before the incident: a later change waits, and frees what it finds.
 */
export async function freeUnheld(
  services: HeldServices,
  trx: Trx,
  actionId: string,
  ended: readonly OfDelivery[],
): Promise<void> {
  const ids = idsOf(ended)
  if (ids.length === 0 || (await run(trx, FIND_HELD, [ids])).length === 0) return
  await lockFlow(trx, actionId)
  const freed = await run(trx, FREE_UNHELD, [ids])
  await leaveFlows(
    services,
    trx,
    freed.map(({ workspaceId }) => ({ actionId, workspaceId, flowState: 'held' })),
  )
}

/** Opens or counts the incident of held keys, for deliveries of an action that ended as dead letters and hold their key. */
export async function tellHeld(
  services: HeldServices,
  trx: Trx,
  ended: readonly OfDelivery[],
): Promise<void> {
  const ids = idsOf(ended)
  if (ids.length === 0) return
  const held = await run(trx, FIND_HELD, [ids])
  const last = held.at(-1)
  const of = ended.find(({ deliveryId }) => deliveryId === last?.id)
  if (last === undefined || of === undefined) return
  await openIncident(services, trx, {
    kind: 'delivery.held',
    ...of,
    requestId: last.requestId,
    // The key is a value of the request, which no alert has.
    reason: `request ${last.requestId} holds its key`,
    count: held.length,
  })
}

/** Frees the keys of requests that were replayed with success, all through the same action. */
export async function freeHeld(
  services: HeldServices,
  trx: Trx,
  succeeded: readonly Pick<Attempt, 'requestId' | 'trigger' | 'action'>[],
): Promise<void> {
  const replayed = succeeded.filter(({ trigger }) => trigger !== 'capture')
  const [first] = replayed
  if (first === undefined) return
  await free(services, trx, first.action.id, valuesOf(replayed, 'requestId'))
}

/**
 * Frees keys of an action, and closes the incident when no key is held any more.
 *
 * @param requestIds requests whose dead letters hold the keys; null frees all
 */
export async function free(
  services: HeldServices,
  trx: Trx,
  actionId: string,
  requestIds: readonly number[] | null,
): Promise<void> {
  const [first] =
    requestIds === null
      ? await run(trx, FREE_ALL, [actionId])
      : await run(trx, FREE_REQUESTS, [actionId, requestIds])
  if (first === undefined) return
  await leaveFlows(services, trx, [{ actionId, workspaceId: first.workspaceId, flowState: 'held' }])
}

/**
 * Leads to looks at the lanes that deliveries have left, by their state until then, and closes the incidents of actions
 * that hold no key any more.
 */
export async function leaveFlows(
  services: HeldServices,
  trx: Trx,
  left: Parameters<typeof flowsOf>[0],
): Promise<void> {
  await wakeFlows(services, trx, flowsOf(left), 'end')
  const held = new Set(left.flatMap(({ actionId, flowState }) => (flowState === 'held' ? [actionId] : [])))
  const subjectIds: string[] = []
  // Transactions that hold or free keys of an action lock its incident: the last one sees the work of the others.
  for (const id of await lockOpen(trx, 'delivery.held', [...held]))
    if ((await run(trx, IS_ANY_HELD, [id])).length === 0) subjectIds.push(id)
  await closeIncidents(services, trx, { kind: 'delivery.held', subjectIds })
}
