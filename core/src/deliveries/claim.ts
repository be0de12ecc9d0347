import { type Insertable, type Selectable, sql } from 'kysely'
import type { ChannelState } from '../alertChannels/index.ts'
import type { ActionsTable, DeliveryAttemptsTable, Trx } from '../db/index.ts'
import { planOf } from '../plans/index.ts'
import type { Payload } from '../queues.ts'
import { type StoredRequestRow, storedRequest } from '../requests/storedRequest.ts'
import type { SecretBox } from '../secrets/index.ts'
import type { Services } from '../services.ts'
import { loadRuleSets, NO_RULE_SET, type RuleSet } from '../transformations/index.ts'
import { type Attempt, type ForwardAction, LEASE_SECONDS, type Refusal } from './attempt.ts'
import { HOPS_MAX, hopsOf } from './forwardHeaders.ts'
import { channelsOf, startNotify } from './notify.ts'
import { insertAttempts, removeDeliveries } from './queries.ts'
import { TRIGGERS, type Trigger } from './states.ts'

/** A try that is due: the payload of its job. */
export type DueTry = Payload<'deliveries.attempt'>

/** How long a queued delivery waits for its action to be switched on again (CONTRACT §8, row 13). */
export const ACTION_OFF_HOURS = 24

type ActionColumns = Pick<
  Selectable<ActionsTable>,
  | 'url'
  | 'isActive'
  | 'suspendedByPlan'
  | 'offSince'
  | 'signingSecret'
  | 'previousSigningSecret'
  | 'previousSigningSecretUntil'
  | 'alertChannelId'
  | 'messageTemplate'
>

/** A due try with everything that it needs, in one row. */
export interface DueRow extends StoredRequestRow, ActionColumns {
  readonly deliveryId: number
  readonly attempt: number
  readonly kind: string
  readonly trigger: string
  readonly workspaceId: string
  readonly requestId: number
  readonly actionId: string
  readonly actionName: string
  readonly endpointName: string
  readonly plan: string
}

/**
 * Begins tries: writes their Pending rows, with the lease, before anything is sent (CONTRACT §8, row 5).
 * Safe to call twice for the same try: only one caller gets it.
 *
 * Tries of a deleted action, endpoint or request are dropped. Those of a switched-off action wait: they come
 * back when it is switched on, or 24 h after it was switched off to be ended as `action_off`. Notify tries go
 * to the outbox of alerts in the same transaction.
 *
 * @returns the forwards to make now, and the tries that end unsent
 */
export async function claimAttempts(services: Services, due: readonly DueTry[]): Promise<Attempt[]> {
  if (due.length === 0) return []
  const now = services.clock.now()
  return await services.db.transaction().execute(async (trx) => {
    const rows = await findDue(trx, due)
    const known = new Set(rows.map((row) => row.deliveryId))
    await removeUnreachable(
      trx,
      due.filter(({ deliveryId }) => !known.has(deliveryId)),
    )

    const waiting = rows.filter((row) => isWaiting(row, now))
    await wakeLater(services, trx, waiting, now)
    const ready = rows.filter((row) => !isWaiting(row, now))
    const channels = await channelsOf(services, trx, ready)
    const ids = await insertAttempts(
      trx,
      ready.map((row) => pendingRow(row, channels.get(row), now)),
    )

    const ruleSets = await loadRuleSets(
      trx,
      ready.filter((row) => row.kind === 'forward').map((row) => row.actionId),
    )
    const attempts: Attempt[] = []
    for (const row of ready) {
      const id = ids.get(row.deliveryId)
      const channel = channels.get(row)
      if (id === undefined) continue
      const attempt = attemptOf(services, row, { id, now, rules: ruleSets.get(row.actionId) ?? NO_RULE_SET })
      if (row.kind === 'forward' || isOff(row)) attempts.push(attempt)
      else if (channel?.isAvailable === true) await startNotify(services, trx, { ...row, id, channel })
      else attempts.push({ ...attempt, refusal: 'channel_unavailable' })
    }
    return attempts
  })
}

function findDue(trx: Trx, due: readonly DueTry[]): Promise<DueRow[]> {
  return sql<DueRow>`
    select d.id as delivery_id, due.attempt, d.kind, d.trigger, d.workspace_id, d.endpoint_id, d.request_id,
           d.action_id, a.name as action_name, a.url, a.is_active, a.suspended_by_plan, a.off_since,
           a.signing_secret, a.previous_signing_secret, a.previous_signing_secret_until,
           a.alert_channel_id, a.message_template, e.name as endpoint_name, w.plan,
           r.received_at, r.method, r.path, r.query_string, r.header_names, r.header_values, r.content_type,
           r.body, r.size_bytes, r.body_truncated, r.ip, r.label, r.verdict, r.verdict_note
    from unnest(${due.map((one) => one.deliveryId)}::bigint[], ${due.map((one) => one.attempt)}::int[])
      as due (delivery_id, attempt)
    join deliveries d on d.id = due.delivery_id and d.finished_at is null and d.attempt_count = due.attempt - 1
    join actions a on a.id = d.action_id
    join endpoints e on e.id = d.endpoint_id and e.deleted_at is null
    join workspaces w on w.id = d.workspace_id
    join requests r on r.endpoint_id = d.endpoint_id and r.id = d.request_id
    order by d.id`
    .execute(trx)
    .then(({ rows }) => rows)
}

/** Ends the runs whose action, endpoint or request is gone (CONTRACT §8, row 12); a run that is merely elsewhere stays. */
async function removeUnreachable(trx: Trx, missing: readonly DueTry[]): Promise<void> {
  if (missing.length === 0) return
  const { rows } = await sql<{ id: number }>`
    select d.id from deliveries d
    where d.id = any(${missing.map((one) => one.deliveryId)}::bigint[]) and d.finished_at is null
      and not exists (
        select from actions a join endpoints e on e.id = a.endpoint_id and e.deleted_at is null
        join requests r on r.endpoint_id = d.endpoint_id and r.id = d.request_id
        where a.id = d.action_id)`.execute(trx)
  await removeDeliveries(
    trx,
    rows.map(({ id }) => id),
  )
}

function isOff(row: DueRow): boolean {
  return !row.isActive || row.suspendedByPlan
}

function offUntil(row: DueRow, now: Date): Date {
  return new Date((row.offSince ?? now).getTime() + ACTION_OFF_HOURS * 3_600_000)
}

function isWaiting(row: DueRow, now: Date): boolean {
  return isOff(row) && now < offUntil(row, now)
}

/** Switching the action on queues its runs anew (`resumeDeliveries`); until then one job waits for the end of the 24 h. */
async function wakeLater(services: Services, trx: Trx, waiting: readonly DueRow[], now: Date): Promise<void> {
  if (waiting.length === 0) return
  await services.enqueue(
    trx,
    'deliveries.attempt',
    waiting.map((row) => ({
      payload: {
        deliveryId: row.deliveryId,
        attempt: row.attempt,
        actionId: row.actionId,
        bodyBytes: row.body.length,
      },
      startAfter: offUntil(row, now),
    })),
  )
}

function leaseFrom(now: Date): Date {
  return new Date(now.getTime() + LEASE_SECONDS * 1000)
}

function pendingRow(
  row: DueRow,
  channel: ChannelState | undefined,
  now: Date,
): Insertable<DeliveryAttemptsTable> {
  return {
    endpointId: row.endpointId,
    deliveryId: row.deliveryId,
    workspaceId: row.workspaceId,
    requestId: row.requestId,
    actionId: row.actionId,
    actionName: row.actionName,
    kind: row.kind,
    state: 'Pending',
    attemptNumber: row.attempt,
    trigger: row.attempt === 1 ? row.trigger : 'retry',
    url: row.url ?? channel?.destination ?? '',
    at: now,
    // The sends of a notify try belong to the outbox: it is never interrupted (CONTRACT R39).
    leaseUntil: row.kind === 'notify' ? null : leaseFrom(now),
  }
}

function attemptOf(
  services: Services,
  row: DueRow,
  { id, now, rules }: { readonly id: number; readonly now: Date; readonly rules: RuleSet },
): Attempt {
  const request = storedRequest(row)
  const days = planOf(services.plans, row.plan).limits.retentionDays
  return {
    id,
    deliveryId: row.deliveryId,
    attemptNumber: row.attempt,
    trigger: row.attempt === 1 ? triggerOf(row.trigger) : 'retry',
    workspaceId: row.workspaceId,
    endpoint: { id: row.endpointId, name: row.endpointName },
    action: forwardAction(services.secrets, row, now),
    requestId: row.requestId,
    request,
    rules,
    startedAt: now,
    leaseUntil: leaseFrom(now),
    retentionEndsAt: new Date(row.receivedAt.getTime() + days * 86_400_000),
    refusal: isOff(row) ? 'action_off' : refusalOf(request),
  }
}

/** Why a captured request is not forwarded at all: it is a prefix only, or it came round once too often. */
export function refusalOf(request: {
  readonly bodyTruncated: boolean
  readonly headers: Parameters<typeof hopsOf>[0]
}): Refusal | null {
  if (request.bodyTruncated) return 'oversize'
  return hopsOf(request.headers) >= HOPS_MAX ? 'loop' : null
}

/** The action with its secrets in the clear: for 24 h after a rotation the previous one signs too. */
export function forwardAction(
  secrets: SecretBox,
  row: Pick<DueRow, 'actionId' | 'actionName'> & ActionColumns,
  now: Date,
): ForwardAction {
  const { signingSecret, previousSigningSecret, previousSigningSecretUntil } = row
  const sealed = signingSecret === null ? [] : [signingSecret]
  const inTime = previousSigningSecretUntil !== null && now < previousSigningSecretUntil
  if (signingSecret !== null && previousSigningSecret !== null && inTime) sealed.push(previousSigningSecret)
  return {
    id: row.actionId,
    name: row.actionName,
    url: row.url ?? '',
    secrets: sealed.map((secret) => secrets.open(secret)),
  }
}

function triggerOf(text: string): Trigger {
  return TRIGGERS.find((trigger) => trigger === text) ?? 'capture'
}
