import type { ChannelState } from '../alertChannels/index.ts'
import type { Services } from '../api/services.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { run, type Trx, valuesOf } from '../platform/db/index.ts'
import { isShredded } from '../platform/secrets/index.ts'
import { withLongBodies } from '../requests/index.ts'
import type { Refusal } from './attempt.ts'
import type { Claimed, ClaimServices } from './claim.ts'
import { type DueAttempt, type DueRow, dueParameters, FIND_DUE, isOff, offUntil } from './dueAttempts.ts'
import { channelsOf, type NotifyAttempt, startNotifies } from './notify.ts'
import { insertAttempts, removeDeliveries } from './queries.ts'
import { countAttempts } from './storageBytes.ts'

/**
 * Hands notify deliveries that a look has taken to the outbox of alerts, in the transaction that took them. Deliveries
 * that are not sent end in it, too: their attempts have no lease, so nothing would find them after a crash.
 *
 * @returns no attempts, and as others the due ones that wait on, or whose action, endpoint or request is gone
 */
export async function claimNotifies(
  services: Omit<ClaimServices, 'db'> & Pick<Services, 'enqueue' | 'urls'>,
  trx: Trx,
  due: readonly DueAttempt[],
): Promise<Claimed> {
  const now = services.clock.now()
  const found = await run(trx, FIND_DUE, dueParameters(due))
  const rows = await withLongBodies(
    trx,
    found.filter((row) => isReady(row, now)),
  )
  const channels = await channelsOf(services, trx, rows)
  const ids = await insertAttempts(
    trx,
    rows.map((row) => attemptRow(row, channels.get(row), now)),
  )
  const unsent: (DueRow & { readonly id: number })[] = []
  const notifies: NotifyAttempt[] = []
  for (const row of rows) {
    const id = ids.get(row.deliveryId)
    const channel = channels.get(row)
    if (id === undefined) continue
    if (channel === undefined || refusalOf(row, channel) !== null) unsent.push({ ...row, id })
    else notifies.push({ ...row, id, channel })
  }
  await startNotifies(services, trx, notifies)
  await endUnsent(trx, unsent)
  const known = new Set(rows.map(({ deliveryId }) => deliveryId))
  return { attempts: [], others: due.filter(({ deliveryId }) => !known.has(deliveryId)) }
}

/** Whether a delivery is sent or ended now. One whose action was switched off a moment ago waits, as in its lane. */
function isReady(row: DueRow, now: Date): boolean {
  return row.sealedUntil === null && (!isOff(row) || now >= offUntil(row, now))
}

function refusalOf(row: DueRow, channel: ChannelState | undefined): Refusal | null {
  if (isShredded(row)) return 'shredded'
  if (isOff(row)) return 'action_off'
  return channel?.isAvailable === true ? null : 'channel_unavailable'
}

function attemptRow(row: DueRow, channel: ChannelState | undefined, now: Date) {
  const error = refusalOf(row, channel)
  return {
    ...row,
    ...(error === null
      ? { state: 'Pending' as const }
      : { state: 'Errored' as const, error, finishedAt: now, durationMs: 0 }),
    attemptNumber: row.attempt,
    trigger: row.attempt === 1 ? row.trigger : 'retry',
    url: row.url ?? channel?.destination ?? '',
    at: now,
    // The sends of a notify attempt belong to the outbox: it is never interrupted.
    leaseUntil: null,
  }
}

async function endUnsent(trx: Trx, unsent: readonly (DueRow & { readonly id: number })[]): Promise<void> {
  if (unsent.length === 0) return
  const endpointIds = unsent.map(({ endpointId }) => endpointId)
  await countAttempts(trx, endpointIds, valuesOf(unsent, 'id'))
  await removeDeliveries(trx, valuesOf(unsent, 'deliveryId'))
  await announceEndpointChange(trx, ...new Set(endpointIds))
}
