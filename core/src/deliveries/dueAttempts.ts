import type { Selectable } from 'kysely'
import { type ActionsTable, encodeArray, INT4, INT8, type RowsOf, statement } from '../platform/db/index.ts'
import { sealedColumns } from '../platform/secrets/index.ts'
import { HOUR_MS } from '../platform/time/index.ts'
import { SHORT_BODY } from '../requests/index.ts'

/** An attempt of a delivery that is due. */
export interface DueAttempt {
  readonly deliveryId: number
  /** Its number, from 1. */
  readonly attempt: number
}

/** How long a queued delivery waits for its action to be switched on again. */
export const ACTION_OFF_HOURS = 24

/** Columns of an action's row that forwards need. The secrets are sealed. */
export const FORWARD_COLUMNS = [
  'url',
  'appendPath',
  'appendQuery',
  'signingSecret',
  'previousSigningSecret',
  'previousSigningSecretUntil',
  'signingScheme',
  'authSettings',
  'authSecrets',
  'tlsCertificates',
  'tlsClientKey',
  'deliveryPolicy',
  'governed',
] as const

/** SQL of {@link FORWARD_COLUMNS} of the action `a`, or with a URL from elsewhere. */
export const forwardColumns = (url = 'a.url'): string =>
  FORWARD_COLUMNS.map((member) => (member === 'url' ? url : `a.${columnOf(member)}`)).join(', ')

/** Members of {@link FORWARD_COLUMNS}. */
export type ForwardSettings = Pick<Selectable<ActionsTable>, (typeof FORWARD_COLUMNS)[number]>

/**
 * Reads deliveries `$1` whose attempts `$2` are due. Leaves out attempts that were made, and those
 * whose action, endpoint or request is gone, and long bodies.
 *
 * Each delivery is looked up by its key (`offset 0` keeps the planner from another order). Right after many captures
 * the planner's statistics do not include their deliveries yet, and it would read the whole table.
 */
export const SELECT_DUE = `
  select d.id as delivery_id, d.attempt_count + 1 as attempt, d.kind, d.trigger, d.workspace_id, d.endpoint_id, d.request_id,
         d.action_id, a.name as action_name, a.is_active, a.suspended_by_plan, a.off_since, ${forwardColumns()}, d.flow_state,
         a.alert_channel_id, a.message_template, e.name as endpoint_name, coalesce(e.capture_id, e.id) as capture_id, w.plan,
         case when w.sealed_until > statement_timestamp() then w.sealed_until end as sealed_until,
         r.received_at, r.method, r.path, r.query_string, r.header_names, r.header_values, r.content_type,
         ${SHORT_BODY}, r.size_bytes, r.body_truncated, r.ip, r.label, r.event_id, r.verdict, r.verdict_note, r.redaction,
         ${sealedColumns('r')}
  from unnest($1::bigint[], $2::int[]) as due (delivery_id, attempt)
  cross join lateral (select * from deliveries where id = due.delivery_id offset 0) d
  join actions a on a.id = d.action_id
  join endpoints e on e.id = d.endpoint_id and e.deleted_at is null
  join workspaces w on w.id = d.workspace_id
  cross join lateral (
    select * from requests where endpoint_id = d.endpoint_id and id = d.request_id offset 0) r
  where d.finished_at is null and d.attempt_count = due.attempt - 1`

/** Reads all that {@link SELECT_DUE} gives, in the order of the deliveries. */
export const FIND_DUE = statement('find due attempts', `${SELECT_DUE} order by d.id`)

/**
 * A due attempt with everything that it needs, in one row.
 *
 * - `captureId`: the endpoint's id in its capture URL.
 * - `sealedUntil`: until then no attempt of the workspace begins, because it is about to be in another cell; null if it
 *   may begin.
 */
export type DueRow = RowsOf<typeof FIND_DUE>

/** The column of a member. */
export function columnOf(member: string): string {
  return member.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`)
}

/** `$1` and `$2` of {@link SELECT_DUE}. */
export function dueParameters(due: readonly DueAttempt[]): Buffer[] {
  return [
    encodeArray(INT8, due, ({ deliveryId }) => deliveryId),
    encodeArray(INT4, due, ({ attempt }) => attempt),
  ]
}

export function offUntil(row: Pick<DueRow, 'offSince'>, now: Date): Date {
  return new Date((row.offSince ?? now).getTime() + ACTION_OFF_HOURS * HOUR_MS)
}

/** Whether the action is switched off or suspended by the plan. */
export function isOff(row: Pick<DueRow, 'isActive' | 'suspendedByPlan'>): boolean {
  return !row.isActive || row.suspendedByPlan
}
