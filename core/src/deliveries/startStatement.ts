import {
  encodeArray,
  encoded,
  type Field,
  field,
  INT4,
  TEXT,
  type TextRow,
  TIMESTAMPTZ,
  UUID,
} from '../platform/db/index.ts'

/** A delivery of a capture that the same transaction has just stored. */
export interface StartingDelivery {
  /** Number of captures of the endpoint that the transaction stored after this one. */
  readonly newer: number
  readonly actionId: string
  readonly actionName: string
  readonly kind: string
  readonly receivedAt: Date
  /** Null if it waits for no other. */
  readonly orderKey: string | null
  /** URL of its first attempt, which is claimed with it; null leaves the attempt to a look at its lane. */
  readonly claimedUrl: string | null
  /** End of the lease of that attempt. */
  readonly leaseUntil: Date
}

export interface StartedDelivery {
  readonly deliveryId: number
  readonly requestId: number
  /** Id of its claimed first attempt; null if none was claimed. */
  readonly attemptId: number | null
  readonly hasRules: boolean
}

/**
 * Starts deliveries of the captures that the same transaction has just stored. They are the `$3` newest of the endpoint
 * `$1`, because its counter row is locked. If a URL is given, the first attempt is claimed: its row is Pending, with
 * its lease, before the capture is answered. The others wait in the lanes of their actions.
 */
export const START_DELIVERIES = `
with stored as (
  select id, row_number() over (order by id desc) - 1 as newer
  from requests where endpoint_id = $1::uuid order by id desc limit $3::integer
), planned as (
  select p.*, s.id as request_id,
         exists (select from transformation_rules t where t.action_id = p.action_id) as has_rules
  from unnest($4::integer[], $5::uuid[], $6::text[], $7::text[], $8::timestamptz[], $9::text[],
    $11::timestamptz[], $13::text[]) with ordinality
    as p (newer, action_id, action_name, kind, received_at, url, lease_until, order_key, place)
  join stored s on s.newer = p.newer
), started as (
  insert into deliveries
    (workspace_id, endpoint_id, request_id, action_id, action_name, kind, trigger, created_at, next_attempt_at,
     flow_state, flow_due_at, order_key)
  select $2::uuid, $1::uuid, request_id, action_id, action_name, kind, 'capture', received_at, received_at,
         case when url is null then 'waiting' else 'sending' end, received_at, order_key
  from planned order by place
  returning id, request_id, action_id
), begun as (
  insert into delivery_attempts (endpoint_id, delivery_id, workspace_id, request_id, action_id, action_name, kind,
    state, attempt_number, trigger, url, at, lease_until, worker_id)
  select $1::uuid, s.id, $2::uuid, p.request_id, p.action_id, p.action_name, p.kind,
    'Pending', 1, 'capture', p.url, $10::timestamptz, p.lease_until, $12::integer
  from planned p join started s using (request_id, action_id)
  where p.url is not null
  returning id, delivery_id
)
select s.id, p.request_id, b.id as attempt_id, p.has_rules
from planned p join started s using (request_id, action_id)
left join begun b on b.delivery_id = s.id
order by p.place`

/**
 * The parameters of {@link START_DELIVERIES}.
 *
 * @param stored number of captures of the endpoint that the transaction has stored
 * @param claim start of the claimed attempts, and the process that makes them
 */
export function startParameters(
  { endpointId, workspaceId }: { readonly endpointId: string; readonly workspaceId: string },
  stored: number,
  deliveries: readonly StartingDelivery[],
  { now, workerId }: { readonly now: Date; readonly workerId: number | null },
): Field[] {
  return [
    field(UUID, endpointId),
    field(UUID, workspaceId),
    field(INT4, stored),
    encoded(encodeArray(INT4, deliveries, ({ newer }) => newer)),
    encoded(encodeArray(UUID, deliveries, ({ actionId }) => actionId)),
    encoded(encodeArray(TEXT, deliveries, ({ actionName }) => actionName)),
    encoded(encodeArray(TEXT, deliveries, ({ kind }) => kind)),
    encoded(encodeArray(TIMESTAMPTZ, deliveries, ({ receivedAt }) => receivedAt)),
    encoded(encodeArray(TEXT, deliveries, ({ claimedUrl }) => claimedUrl)),
    field(TIMESTAMPTZ, now),
    encoded(encodeArray(TIMESTAMPTZ, deliveries, ({ leaseUntil }) => leaseUntil)),
    field(INT4, workerId),
    encoded(encodeArray(TEXT, deliveries, ({ orderKey }) => orderKey)),
  ]
}

/** Reads a row of {@link START_DELIVERIES}. The rows are in the order of the deliveries. */
export function startedDelivery([deliveryId, requestId, attemptId, hasRules]: TextRow): StartedDelivery {
  return {
    deliveryId: Number(deliveryId),
    requestId: Number(requestId),
    attemptId: attemptId === null || attemptId === undefined ? null : Number(attemptId),
    hasRules: hasRules === 't',
  }
}
