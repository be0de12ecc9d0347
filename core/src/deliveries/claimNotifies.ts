import type { ChannelState } from '../alertChannels/index.ts'
import type { Services } from '../api/services.ts'
import { run, type Trx } from '../platform/db/index.ts'
import { isShredded } from '../platform/secrets/index.ts'
import { storedRequest, withLongBodies } from '../requests/index.ts'
import { NO_RULE_SET } from '../transformations/index.ts'
import type { Attempt } from './attempt.ts'
import { attemptOf, forwardActions } from './attemptOf.ts'
import type { Claimed, ClaimServices } from './claim.ts'
import { type DueAttempt, type DueRow, dueParameters, FIND_DUE, isOff } from './dueAttempts.ts'
import { channelsOf, type NotifyAttempt, startNotifies } from './notify.ts'
import { insertAttempts } from './queries.ts'

/**
 * Hands notify deliveries that a look has taken to the outbox of alerts, in the transaction that took them.
 *
 * @returns the attempts that end unsent, and the due ones whose action, endpoint or request is gone
 */
export async function claimNotifies(
  services: Omit<ClaimServices, 'db'> & Pick<Services, 'enqueue' | 'urls'>,
  trx: Trx,
  due: readonly DueAttempt[],
): Promise<Claimed> {
  const now = services.clock.now()
  const rows = await withLongBodies(trx, await run(trx, FIND_DUE, dueParameters(due)))
  const channels = await channelsOf(services, trx, rows)
  const ids = await insertAttempts(
    trx,
    rows.map((row) => pendingRow(row, channels.get(row), now)),
  )
  const unsent: Attempt[] = []
  const notifies: NotifyAttempt[] = []
  const actionOf = forwardActions(services.secrets, now)
  for (const row of rows) {
    const id = ids.get(row.deliveryId)
    const channel = channels.get(row)
    if (id === undefined) continue
    const claim = { id, startedAt: now, action: actionOf(row), rules: NO_RULE_SET }
    const attempt = attemptOf(services, row, storedRequest(row), claim)
    if (isOff(row) || isShredded(row)) unsent.push(attempt)
    else if (channel?.isAvailable === true) notifies.push({ ...row, id, channel })
    else unsent.push({ ...attempt, refusal: 'channel_unavailable' })
  }
  await startNotifies(services, trx, notifies)
  const known = new Set(rows.map(({ deliveryId }) => deliveryId))
  return { attempts: unsent, others: due.filter(({ deliveryId }) => !known.has(deliveryId)) }
}

function pendingRow(row: DueRow, channel: ChannelState | undefined, now: Date) {
  return {
    ...row,
    state: 'Pending',
    attemptNumber: row.attempt,
    trigger: row.attempt === 1 ? row.trigger : 'retry',
    url: row.url ?? channel?.destination ?? '',
    at: now,
    // The sends of a notify attempt belong to the outbox: it is never interrupted.
    leaseUntil: null,
  }
}
