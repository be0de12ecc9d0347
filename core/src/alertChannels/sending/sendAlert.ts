import { findAlert } from '../../alerts/index.ts'
import type { Services } from '../../api/services.ts'
import { LOST_ATTEMPTS_MAX, waitFor } from './attempts.ts'
import { availabilityOf } from './availability.ts'
import { sendToChannel } from './channelSend.ts'
import { mailAlert } from './mailAlert.ts'
import {
  type AlertDeliveryRow,
  claimDelivery,
  dueAt,
  openingDueAt,
  queueSends,
  releaseClaim,
} from './queries.ts'
import { type NotifyReport, type OnNotified, recordChannelAttempt } from './record.ts'

/**
 * Makes one attempt of a send that is due. May run any number of times at once: the claim admits one worker.
 *
 * @param onNotified called in the recording transaction when the send is a notify action's
 */
export async function sendAlert(
  services: Services,
  { alertDeliveryId: id }: { alertDeliveryId: number },
  signal: AbortSignal,
  onNotified: OnNotified,
): Promise<void> {
  const { db, clock } = services
  const claimed = await db.transaction().execute(async (trx) => {
    const row = await claimDelivery(trx, id, clock.now())
    if (row !== undefined) return row
    // Not due yet by this clock, or claimed by another worker. Queue it for then, in case that worker dies.
    const due = await dueAt(trx, id)
    if (due !== undefined) await queueSends(services, trx, [id], due)
    return undefined
  })
  if (claimed !== undefined) await makeAttempt(services, claimed, signal, onNotified)
}

/**
 * Makes a claimed attempt and records it.
 *
 * @returns the report for a notify action's attempt row; undefined for other alerts, and when the attempt was released
 *   because the worker stops, the opening alert goes first, or the claim was lost
 */
export async function makeAttempt(
  services: Services,
  row: AlertDeliveryRow,
  signal: AbortSignal,
  onNotified: OnNotified,
): Promise<NotifyReport | undefined> {
  const found = await findAlert(services.db, row.alertId)
  if (found === undefined) return undefined
  if (row.attemptCount > row.attemptsMax + LOST_ATTEMPTS_MAX) {
    const unavailable = { outcome: 'failed', detail: 'Given up: no attempt completed.' } as const
    return await recordChannelAttempt(
      services,
      row,
      found,
      { unavailable, send: null, channel: null },
      onNotified,
    )
  }
  const now = services.clock.now()
  const { incidentId, status } = found.alert
  if (status === 'closed' && incidentId !== null) {
    const opening = await openingDueAt(services.db, row, incidentId)
    if (opening !== undefined) {
      await giveBack(services, row, waitFor(opening, now))
      return undefined
    }
  }
  if (row.recipient !== null) {
    await mailAlert(services, { ...row, recipient: row.recipient }, found.alert)
    return undefined
  }
  const { channel, unavailable } = await availabilityOf(services, row.workspaceId, row.channelId ?? '')
  if (channel === null || unavailable !== null) {
    return await recordChannelAttempt(services, row, found, { unavailable, send: null, channel }, onNotified)
  }
  const send = await sendToChannel(services, channel, found.alert, signal)
  if (send.error === 'aborted') {
    await giveBack(services, row, now)
    return undefined
  }
  return await recordChannelAttempt(services, row, found, { unavailable: null, send, channel }, onNotified)
}

/** Releases a claimed attempt and queues it again. */
async function giveBack(services: Services, row: AlertDeliveryRow, at: Date): Promise<void> {
  await services.db.transaction().execute(async (trx) => {
    await releaseClaim(trx, row, at)
    await queueSends(services, trx, [row.id], at)
  })
}
