import type { Services } from '../api/services.ts'
import { queueRecovery } from '../dispatch/index.ts'
import {
  BOOL,
  encodeArray,
  INT8,
  type ItemType,
  run,
  statement,
  TEXT,
  TIMESTAMPTZ,
  type Trx,
  UUID,
} from '../platform/db/index.ts'
import { attemptJobs } from './attemptJobs.ts'
import { DELIVERY_LANES } from './flow/jobs.ts'
import { DUE_ATTEMPTS } from './jobs.ts'
import type { Trigger } from './states.ts'

/** A delivery to start: one captured request through one action. */
export interface NewDelivery {
  readonly workspaceId: string
  readonly endpointId: string
  readonly requestId: number
  readonly actionId: string
  readonly actionName: string
  readonly kind: string
  /** Bytes of the stored body. */
  readonly bodyBytes: number
  readonly trigger: Extract<Trigger, 'capture' | 'bulkReplay'>
  /** Set where the action is governed: the delivery waits in its flow, after others of its key. */
  readonly flow: { readonly orderKey: string | null } | null
  /** Now; the first attempt is due at once. */
  readonly createdAt: Date
}

const INSERT = statement(
  'insert deliveries',
  `insert into deliveries
    (workspace_id, endpoint_id, request_id, action_id, action_name, kind, trigger, created_at, next_attempt_at,
     flow_state, flow_due_at, order_key)
  select w, e, r, a, n, k, t, c, c, case when f then 'waiting' end, case when f then c end, o
  from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::timestamptz[],
    $9::boolean[], $10::text[]) as new (w, e, r, a, n, k, t, c, f, o)
  returning id, request_id, action_id`,
)

/**
 * Queues deliveries in the caller's transaction, so that the captures, the deliveries and their jobs exist together or
 * not at all. Any number of deliveries takes two statements: one for the rows, one for the jobs. Deliveries of governed
 * actions share a job of their flow: the caller announces them when the transaction is committed.
 */
export async function insertDeliveries(
  services: Pick<Services, 'enqueue' | 'clock'>,
  trx: Trx,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  if (deliveries.length === 0) return
  const column = <Value>(type: ItemType<Value>, valueIn: (delivery: NewDelivery) => Value | null) =>
    encodeArray(type, deliveries, valueIn)
  const rows = await run(trx, INSERT, [
    column(UUID, ({ workspaceId }) => workspaceId),
    column(UUID, ({ endpointId }) => endpointId),
    column(INT8, ({ requestId }) => requestId),
    column(UUID, ({ actionId }) => actionId),
    column(TEXT, ({ actionName }) => actionName),
    column(TEXT, ({ kind }) => kind),
    column(TEXT, ({ trigger }) => trigger),
    column(TIMESTAMPTZ, ({ createdAt }) => createdAt),
    column(BOOL, ({ flow }) => flow !== null),
    column(TEXT, ({ flow }) => flow?.orderKey ?? null),
  ])
  const flows = new Map(
    deliveries.flatMap(({ flow, actionId: id, workspaceId }) =>
      flow === null ? [] : [[id, { id, workspaceId }] as const],
    ),
  )
  await queueRecovery(services, trx, DELIVERY_LANES, [...flows.values()])
  const queued = rows.filter(({ actionId }) => !flows.has(actionId))
  if (queued.length === 0) return
  const ofRequest = new Map(deliveries.map((delivery) => [delivery.requestId, delivery]))
  await services.enqueue(
    trx,
    DUE_ATTEMPTS,
    attemptJobs(
      queued.map(({ id, requestId, actionId }) => ({
        deliveryId: id,
        attempt: 1,
        actionId,
        workspaceId: ofRequest.get(requestId)?.workspaceId ?? actionId,
        bodyBytes: ofRequest.get(requestId)?.bodyBytes ?? 0,
        yields: ofRequest.get(requestId)?.trigger === 'bulkReplay',
      })),
    ),
  )
}
