import type { Selectable } from 'kysely'
import { z } from 'zod'
import {
  ALERT_FAN_OUT,
  type EventKind,
  lockWaitingAlert,
  lockWaitingOpening,
  markFannedOut,
  passes,
  pruneAlerts,
  type Severity,
  waitingSince,
} from '../../alerts/index.ts'
import type { Services } from '../../api/services.ts'
import { listContacts } from '../../contacts/index.ts'
import type { AlertsTable, Trx } from '../../platform/db/index.ts'
import { type Channel, channelOf, isConnected, isMuted } from '../channel.ts'
import { channelKind } from '../kinds/index.ts'
import { allChannelRows } from '../queries.ts'
import { planOfWorkspace, reasonNot } from './attempt.ts'
import {
  ATTEMPTS_MAX,
  channelsNotified,
  forgetErrorsBefore,
  historyFrom,
  insertSends,
  reduceSends,
} from './queries.ts'

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
      const opening = await lockWaitingOpening(trx, alert.incidentId)
      if (opening !== undefined) await fanOut(services, trx, opening)
    }
    await fanOut(services, trx, alert)
  })
}

async function fanOut(services: Services, trx: Trx, alert: Selectable<AlertsTable>): Promise<void> {
  const { id, workspaceId, eventKind: kind, incidentId } = alert
  const contacts = await listContacts(trx, workspaceId)
  const named = new Set(ContactIds.parse(JSON.parse(alert.contactIds)))
  const planned = recipientsOf({
    alert: { kind, severity: alert.severity },
    channels: await candidates(services, trx, workspaceId, alert.status === 'closed' ? incidentId : null),
    contacts: contacts.map(({ email }) => email),
    namedContacts: contacts.filter((contact) => named.has(contact.id)).map(({ email }) => email),
  })
  const now = services.clock.now()
  await insertSends(
    services,
    trx,
    planned.map(({ channel, recipient, outcome, detail }) => ({
      alertId: id,
      workspaceId,
      at: now,
      channelId: channel?.id ?? null,
      channelName: channel?.name ?? null,
      channelKind: recipient === null && channel !== null ? channel.kind : 'email',
      recipient,
      outcome,
      detail,
      emailFallback: recipient !== null && channel !== null,
      attemptsMax: ATTEMPTS_MAX,
      // One that is not to be sent has ended.
      nextAttemptAt: outcome === null ? now : null,
    })),
  )
  await markFannedOut(trx, id, now)
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
      ...channel,
      connected: isConnected(channel),
      muted: isMuted(channel, now),
      failing: channel.health === 'failing',
      inPlan: at < limits.alertChannelsMax,
      heldOpen: channelKind(channel.kind).keepsIncidents === true && notified.has(channel.id),
    }
  })
}

/** A channel's state when an alert is fanned out. */
export interface Candidate extends Pick<Channel, 'id' | 'name' | 'kind' | 'enabled' | 'events'> {
  readonly connected: boolean
  readonly muted: boolean
  readonly failing: boolean
  /** Within the plan's number of channels. */
  readonly inPlan: boolean
  /** Whether the provider tracks incidents itself and got the opening event of this one. */
  readonly heldOpen: boolean
}

interface PlannedDelivery {
  /** The channel; for a mail, the failing channel that it replaces, or null. */
  readonly channel: Pick<Candidate, 'id' | 'name' | 'kind'> | null
  /** The address of a mail; null for a channel. */
  readonly recipient: string | null
  /** Null if it is to be sent; else it is recorded and not sent. */
  readonly outcome: 'muted' | 'suppressed' | null
  /** Why it is not sent. */
  readonly detail: string | null
}

/** An alert, and everything that decides its recipients. */
export interface Audience {
  readonly alert: { readonly kind: EventKind; readonly severity: Severity }
  readonly channels: readonly Candidate[]
  /** Addresses of every contact of the workspace. */
  readonly contacts: readonly string[]
  /** Addresses of the watchdog's own contacts; empty for other alerts. */
  readonly namedContacts: readonly string[]
}

/**
 * Determines the recipients of an alert.
 *
 * Channels: every one that is on and subscribes at this severity. One that tracks incidents also gets the closing event
 * of an incident whose opening it got. Contacts: all, unless an enabled, unmuted channel in plan took the alert and
 * none is failing. A watchdog's own contacts get it always, and if no channel took it, only they do.
 */
export function recipientsOf({ alert, channels, contacts, namedContacts }: Audience): PlannedDelivery[] {
  const wanting = channels.filter(
    (channel) => channel.enabled && (channel.heldOpen || passes(channel.events, alert)),
  )
  const able = wanting.filter((channel) => reasonNot(channel) === null)
  const failing = able.find((channel) => channel.failing)
  const named = namedContacts.map((recipient) => ({ channel: null, recipient, ...SENT }))
  const planned = [
    ...wanting.map((channel) => ({ channel, recipient: null, ...(reasonNot(channel) ?? SENT) })),
    ...named,
  ]
  if (failing === undefined && (able.length > 0 || named.length > 0)) return planned
  const others = contacts.filter((recipient) => !namedContacts.includes(recipient))
  return [...planned, ...others.map((recipient) => ({ channel: failing ?? null, recipient, ...SENT }))]
}

const SENT = { outcome: null, detail: null } as const

/** Alerts younger than this still have a job that is about to run. */
const JOB_AGE_MS_MAX = 15_000

/**
 * Queues alerts again whose jobs were lost in a crash, and deletes old ones. A surplus job is harmless: an alert is
 * fanned out once.
 */
export async function sweepAlerts(services: Services): Promise<void> {
  const now = services.clock.now()
  const before = new Date(now.getTime() - JOB_AGE_MS_MAX)
  await services.db.transaction().execute(async (trx) => {
    const waiting = await waitingSince(trx, before)
    await services.enqueue(
      trx,
      ALERT_FAN_OUT,
      waiting.map(({ id }) => ({ payload: { alertId: id } })),
    )
  })
  const from = historyFrom(now)
  await services.db.transaction().execute(async (trx) => {
    await reduceSends(trx, await pruneAlerts(trx, from))
    await forgetErrorsBefore(trx, from)
  })
}
