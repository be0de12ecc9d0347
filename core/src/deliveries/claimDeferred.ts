import type { Insertable } from 'kysely'
import type { ChannelState } from '../alertChannels/index.ts'
import type { Services } from '../api/services.ts'
import { type DeliveryAttemptsTable, run, type Trx } from '../platform/db/index.ts'
import { isShredded } from '../platform/secrets/index.ts'
import { storedRequest } from '../requests/index.ts'
import { NO_RULE_SET } from '../transformations/index.ts'
import type { Attempt } from './attempt.ts'
import { attemptJobs, type DueAttempt } from './attemptJobs.ts'
import { attemptOf, forwardActions } from './attemptOf.ts'
import { type DueRow, dueParameters, FIND_DUE, isOff, isWaiting, offUntil } from './dueAttempts.ts'
import { adoptDeliveries, isInFlow } from './flow/adopt.ts'
import { DUE_ATTEMPTS } from './jobs.ts'
import { channelsOf, startNotify } from './notify.ts'
import { insertAttempts } from './queries.ts'
import { removeUnreachable } from './unreachable.ts'

/**
 * Takes the due attempts that `claimForwards` left, in one transaction. Safe to call twice for the same attempt.
 *
 * - Attempts of a deleted action, endpoint or request are dropped.
 * - Attempts of a switched-off action wait until it is switched on. After 24 h they end as `action_off`.
 * - Attempts of a sealed workspace wait for two seconds.
 * - Notify attempts go to the outbox of alerts.
 * - Attempts of governed actions move to the flow of their action.
 *
 * @returns the attempts that end unsent
 */
export async function claimDeferred(services: Services, due: readonly DueAttempt[]): Promise<Attempt[]> {
  if (due.length === 0) return []
  const now = services.clock.now()
  return await services.db.transaction().execute(async (trx) => {
    const rows = await run(trx, FIND_DUE, dueParameters(due))
    const known = new Set(rows.map((row) => row.deliveryId))
    await removeUnreachable(
      trx,
      due.map(({ deliveryId }) => deliveryId).filter((id) => !known.has(id)),
    )
    // A forward that does not wait was switched on a moment ago. It gets a new job below.
    const ready = rows.filter(
      (row) => row.kind === 'notify' && row.sealedUntil === null && !isWaiting(row, now),
    )
    const ofFlows = rows.filter(isInFlow)
    await adoptDeliveries(services, trx, ofFlows)
    await wakeLater(
      services,
      trx,
      rows.filter((row) => !ready.includes(row) && !ofFlows.includes(row)),
      now,
    )
    return await startNotifies(services, trx, ready, now)
  })
}

async function startNotifies(
  services: Services,
  trx: Trx,
  rows: readonly DueRow[],
  now: Date,
): Promise<Attempt[]> {
  const channels = await channelsOf(services, trx, rows)
  const ids = await insertAttempts(
    trx,
    rows.map((row) => pendingRow(row, channels.get(row), now)),
  )
  const unsent: Attempt[] = []
  const actionOf = forwardActions(services.secrets, now)
  for (const row of rows) {
    const id = ids.get(row.deliveryId)
    const channel = channels.get(row)
    if (id === undefined) continue
    const claim = { id, now, action: actionOf(row), rules: NO_RULE_SET }
    const attempt = attemptOf(services, row, storedRequest(row), claim)
    if (isOff(row) || isShredded(row)) unsent.push(attempt)
    else if (channel?.isAvailable === true) await startNotify(services, trx, { ...row, id, channel })
    else unsent.push({ ...attempt, refusal: 'channel_unavailable' })
  }
  return unsent
}

/** Delay of attempts of a sealed workspace, in milliseconds. A seal takes a second or two. */
const SEALED_MS = 2_000

const afterSeal = (now: Date) => new Date(now.getTime() + SEALED_MS)

/** Queues one job for the end of the 24 h. Switching the action on queues its attempts at once (`resumeDeliveries`). */
async function wakeLater(services: Services, trx: Trx, rows: readonly DueRow[], now: Date): Promise<void> {
  if (rows.length === 0) return
  await services.enqueue(
    trx,
    DUE_ATTEMPTS,
    attemptJobs(
      rows.map((row) => ({
        deliveryId: row.deliveryId,
        attempt: row.attempt,
        actionId: row.actionId,
        workspaceId: row.workspaceId,
        bodyBytes: row.body.length,
        startAfter: isOff(row) ? offUntil(row, now) : row.sealedUntil === null ? now : afterSeal(now),
      })),
    ),
  )
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
    // The sends of a notify attempt belong to the outbox: it is never interrupted.
    leaseUntil: null,
  }
}
