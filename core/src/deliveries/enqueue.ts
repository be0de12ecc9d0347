import type { Services } from '../api/services.ts'
import { queueRecovery } from '../dispatch/index.ts'
import {
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
import { DELIVERY_LANES } from './jobs.ts'
import type { Trigger } from './states.ts'

/** A delivery to start: one captured request through one action. */
export interface NewDelivery {
  readonly workspaceId: string
  readonly endpointId: string
  readonly requestId: number
  readonly actionId: string
  readonly actionName: string
  readonly kind: string
  readonly trigger: Extract<Trigger, 'capture' | 'bulkReplay'>
  /** It waits for others of its key; null if it waits for none. */
  readonly orderKey: string | null
  /** Now; the first attempt is due at once. */
  readonly createdAt: Date
}

const INSERT = statement(
  'insert deliveries',
  `insert into deliveries
    (workspace_id, endpoint_id, request_id, action_id, action_name, kind, trigger, created_at, next_attempt_at,
     flow_state, flow_due_at, order_key, priority)
  select w, e, r, a, n, k, t, c, c, 'waiting', c, o, case t when 'bulkReplay' then 1 else 0 end
  from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::timestamptz[],
    $9::text[]) as new (w, e, r, a, n, k, t, c, o)`,
)

/**
 * Queues deliveries in the caller's transaction, so that the captures, the deliveries and the jobs of their lanes exist
 * together or not at all. Any number of deliveries takes two statements: one for the rows, one for the jobs. The caller
 * announces them when the transaction is committed.
 */
export async function insertDeliveries(
  services: Pick<Services, 'enqueue' | 'clock'>,
  trx: Trx,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  if (deliveries.length === 0) return
  const column = <Value>(type: ItemType<Value>, valueIn: (delivery: NewDelivery) => Value | null) =>
    encodeArray(type, deliveries, valueIn)
  await run(trx, INSERT, [
    column(UUID, ({ workspaceId }) => workspaceId),
    column(UUID, ({ endpointId }) => endpointId),
    column(INT8, ({ requestId }) => requestId),
    column(UUID, ({ actionId }) => actionId),
    column(TEXT, ({ actionName }) => actionName),
    column(TEXT, ({ kind }) => kind),
    column(TEXT, ({ trigger }) => trigger),
    column(TIMESTAMPTZ, ({ createdAt }) => createdAt),
    column(TEXT, ({ orderKey }) => orderKey),
  ])
  const lanes = new Map(deliveries.map(({ actionId: id, workspaceId }) => [id, { id, workspaceId }]))
  await queueRecovery(services, trx, DELIVERY_LANES, [...lanes.values()])
}
