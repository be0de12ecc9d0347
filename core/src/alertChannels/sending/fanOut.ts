import type { Selectable } from 'kysely'
import { z } from 'zod'
import {
  findWaitingOpening,
  isEventKind,
  lockWaitingAlert,
  markFannedOut,
  severityOf,
} from '../../alerts/index.ts'
import type { Services } from '../../api/services.ts'
import { listContacts } from '../../contacts/index.ts'
import type { AlertsTable, Trx } from '../../platform/db/index.ts'
import { channelOf, isConnected, isMuted } from '../channel.ts'
import { channelKind } from '../kinds/index.ts'
import { allChannelRows } from '../queries.ts'
import { planOfWorkspace } from './availability.ts'
import { ATTEMPTS_MAX, channelsNotified, insertSends, type NewSend } from './queries.ts'
import { type Candidate, type PlannedDelivery, recipientsOf } from './recipients.ts'

const ContactIds = z.array(z.string())

/**
 * Determines the recipients of an alert and queues a send to each, exactly once. The alert stays locked until the sends
 * are written; a second run finds it fanned out. The opening alert of an incident is fanned out before its closing one.
 */
export async function fanOutAlert(services: Services, { alertId }: { alertId: string }): Promise<void> {
  await services.db.transaction().execute(async (trx) => {
    const alert = await lockWaitingAlert(trx, alertId)
    if (alert === undefined) return
    if (alert.status === 'closed' && alert.incidentId !== null) {
      const opening = await findWaitingOpening(trx, alert.incidentId)
      const locked = opening === undefined ? undefined : await lockWaitingAlert(trx, opening.id)
      if (locked !== undefined) await fanOut(services, trx, locked)
    }
    await fanOut(services, trx, alert)
  })
}

async function fanOut(services: Services, trx: Trx, alert: Selectable<AlertsTable>): Promise<void> {
  const { id, workspaceId, eventKind: kind, incidentId } = alert
  if (!isEventKind(kind)) throw new Error(`The alert ${id} has the unknown kind ${kind}.`)
  const contacts = await listContacts(trx, workspaceId)
  const named = new Set(ContactIds.parse(JSON.parse(alert.contactIds)))
  const planned = recipientsOf({
    alert: { kind, severity: severityOf(alert.severity) },
    channels: await candidates(services, trx, workspaceId, alert.status === 'closed' ? incidentId : null),
    contacts: contacts.map(({ email }) => email),
    namedContacts: contacts.filter((contact) => named.has(contact.id)).map(({ email }) => email),
  })
  const now = services.clock.now()
  await insertSends(
    services,
    trx,
    planned.map((delivery) => deliveryRow(delivery, { alertId: id, workspaceId, now })),
  )
  await markFannedOut(trx, id, now)
}

/** The row of a planned delivery: due at once, or already finished if it is not to be sent. */
function deliveryRow(
  { channel, recipient, outcome, detail }: PlannedDelivery,
  { alertId, workspaceId, now }: { alertId: string; workspaceId: string; now: Date },
): NewSend {
  return {
    alertId,
    workspaceId,
    at: now,
    channelId: channel?.id ?? null,
    channelName: channel?.name ?? null,
    channelKind: recipient === null ? (channel?.kind ?? '') : 'email',
    recipient,
    outcome,
    detail,
    emailFallback: recipient !== null && channel !== null,
    attemptsMax: ATTEMPTS_MAX,
    nextAttemptAt: outcome === null ? now : null,
  }
}

/** @param closing the incident that the alert closes; null if it closes none */
async function candidates(
  { clock, plans, secrets }: Services,
  trx: Trx,
  workspaceId: string,
  closing: string | null,
): Promise<Candidate[]> {
  const { limits } = await planOfWorkspace(trx, plans, workspaceId)
  const notified = closing === null ? new Set() : await channelsNotified(trx, closing)
  const now = clock.now()
  return (await allChannelRows(trx, workspaceId)).map((row, at) => {
    const channel = channelOf(row, secrets)
    return {
      id: channel.id,
      name: channel.name,
      kind: channel.kind,
      enabled: channel.enabled,
      connected: isConnected(channel),
      muted: isMuted(channel, now),
      failing: channel.health === 'failing',
      inPlan: at < limits.alertChannelsMax,
      events: channel.events,
      heldOpen: channelKind(channel.kind).keepsIncidents && notified.has(channel.id),
    }
  })
}
