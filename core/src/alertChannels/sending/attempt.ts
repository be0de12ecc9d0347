import { Counter } from 'prom-client'
import type { z } from 'zod'
import { type Alert, findAlert } from '../../alerts/index.ts'
import type { Services } from '../../api/services.ts'
import { nextAttemptAt, retryAfterOf } from '../../dispatch/index.ts'
import { type Plan, planOf } from '../../plans/index.ts'
import type { Db } from '../../platform/db/index.ts'
import { registers } from '../../platform/metrics/index.ts'
import type { DataKeyRef } from '../../platform/secrets/index.ts'
import { type Channel, channelOf, isConnected, isMuted } from '../channel.ts'
import { CHANNEL_KIND_NAMES } from '../kinds/index.ts'
import { channelRow, isOverPlan } from '../queries.ts'
import { OUTCOMES, type Outcome, type TestResult } from '../schema.ts'
import { alertMail } from './alertMail.ts'
import { type ChannelSend, sendToChannel, shownDetail } from './channelSend.ts'
import { type AlertDeliveryRow, DELAYS_SECONDS } from './queries.ts'

/**
 * Additional attempts after a worker died during one. After these the send is given up, because it may be the cause of
 * the deaths.
 */
const LOST_ATTEMPTS_MAX = 5

/** Attempts come at 0, 30 s and 5 min, without jitter: an alert should not be later than it is said to be. */
const SCHEDULE = { delaysSeconds: DELAYS_SECONDS, jitter: 0 }

/**
 * Attempts to send an alert. `outcome`: `delivered`, `failed`, `muted`, `suppressed`; `channel` is the channel's kind.
 */
const alertSendsTotal = new Counter({
  name: 'creel_alert_sends_total',
  help: 'Attempts to send an alert, by outcome and kind of channel',
  labelNames: ['outcome', 'channel'] as const,
  registers,
})
for (const channel of ['email', ...CHANNEL_KIND_NAMES]) {
  for (const outcome of OUTCOMES) alertSendsTotal.inc({ outcome, channel }, 0)
}

/** Outcome of one attempt, and the time of the next; null if none follows. */
export interface AttemptResult
  extends Pick<AlertDeliveryRow, 'detail' | 'statusCode' | 'durationMs' | 'nextAttemptAt'> {
  readonly outcome: Outcome
}

/** An attempt that has ended. */
export interface AlertResult {
  readonly alert: Alert
  /** The attempt row of a notify action. */
  readonly attemptId: number | null
  /** The key that seals the message of the alert; null without. */
  readonly sealing: DataKeyRef | null
  readonly at: Date
  readonly result: AttemptResult
  /** Null for a mail, and if nothing was sent. */
  readonly sent: { readonly channel: Channel; readonly send: ChannelSend } | null
  /** Whether the receiver answered; null if nothing was sent to it. */
  readonly answered: boolean | null
  /** Whether nothing was sent because the channel takes nothing by now: it is muted, off, deleted… */
  readonly isShut: boolean
}

type Ended = Pick<AlertResult, 'result' | 'sent' | 'answered' | 'isShut'>

/** Makes a claimed attempt. Null if it was cut off, or its alert was pruned. */
export async function makeAttempt(
  services: Services,
  row: AlertDeliveryRow,
  signal: AbortSignal,
): Promise<AlertResult | null> {
  const found = await findAlert(services.db, row.alertId)
  if (found === undefined) return null
  const ended = await attempt(services, row, found.alert, signal)
  if (ended === null) return null
  alertSendsTotal.inc({ outcome: ended.result.outcome, channel: row.channelKind })
  const { result, sent } = ended
  const whole = { ...found, ...ended, at: services.clock.now() }
  if (found.sealing === null) return whole
  // The words of a provider may repeat the message.
  return {
    ...whole,
    result: { ...result, detail: null },
    sent: sent && { ...sent, send: { ...sent.send, detail: null } },
  }
}

async function attempt(
  services: Services,
  row: AlertDeliveryRow,
  alert: Alert,
  signal: AbortSignal,
): Promise<Ended | null> {
  if (row.attemptCount > row.attemptsMax + LOST_ATTEMPTS_MAX)
    return { ...unsent({ outcome: 'failed', detail: 'Given up: no attempt completed.' }), isShut: false }
  if (row.recipient !== null) return await mail(services, { ...row, recipient: row.recipient }, alert, signal)
  const channel = await findOpenChannel(services, row.workspaceId, row.channelId ?? '')
  if ('outcome' in channel) return unsent(channel)
  const send = await sendToChannel(services, channel, alert, signal)
  if (send.error === 'aborted') return null
  // A channel that is already failing gets one attempt per alert.
  const attemptsMax = channel.health === 'failing' ? 1 : row.attemptsMax
  const next = nextSendAt(services.clock.now(), {
    attempt: row.attemptCount,
    attemptsMax,
    isPermanent: send.permanent,
    statusCode: send.statusCode,
    retryAfter: retryAfterOf(send.received?.headers),
  })
  return {
    result: resultOf(send, next),
    sent: { channel, send },
    answered: send.statusCode !== null,
    isShut: false,
  }
}

async function mail(
  { mailer, clock }: Services,
  row: AlertDeliveryRow & { readonly recipient: string },
  alert: Alert,
  signal: AbortSignal,
): Promise<Ended | null> {
  const note = row.emailFallback
    ? `You get this by mail because the alert channel ${row.channelName} is failing.`
    : null
  const messageKey = `${alert.id}.${row.id}`
  const sent = await mailer.send({ ...alertMail(alert, note), to: row.recipient, messageKey }, signal)
  if (sent === null) return null
  const delivered = sent.outcome === 'sent'
  const statusCode = sent.outcome === 'sent' ? null : sent.statusCode
  const next = nextSendAt(clock.now(), {
    attempt: row.attemptCount,
    attemptsMax: row.attemptsMax,
    isPermanent: sent.outcome !== 'failed',
    // A status of SMTP is not one of HTTP.
    statusCode: null,
    retryAfter: null,
  })
  const detail = sent.outcome === 'sent' ? `Mailed to ${row.recipient}.` : shownDetail(sent.detail)
  return {
    result: resultOf({ delivered, detail, statusCode, durationMs: sent.durationMs }, next),
    sent: null,
    answered: delivered || statusCode !== null,
    isShut: false,
  }
}

/** Why nothing is sent. */
type Unsent = Pick<AttemptResult, 'outcome' | 'detail'>

const unsent = (reason: Unsent): Ended => ({
  result: { ...reason, statusCode: null, durationMs: null, nextAttemptAt: null },
  sent: null,
  answered: null,
  isShut: true,
})

function resultOf(
  { delivered, detail, statusCode, durationMs }: z.output<typeof TestResult>,
  next: Date | null,
): AttemptResult {
  const outcome = delivered ? 'delivered' : 'failed'
  return { outcome, detail, statusCode, durationMs, nextAttemptAt: delivered ? null : next }
}

interface FailedSend extends Omit<Parameters<typeof nextAttemptAt>[0], 'now'> {
  /** 1 for a channel that was already failing, and for inline replays. */
  readonly attemptsMax: number
  readonly isPermanent: boolean
}

/** Time of the next attempt after a failed one; null for none. */
export function nextSendAt(now: Date, { attemptsMax, isPermanent, ...failed }: FailedSend): Date | null {
  if (isPermanent || failed.attempt >= attemptsMax) return null
  return nextAttemptAt({ now, ...failed }, SCHEDULE)
}

/** Finds a channel before every attempt: it may have been muted, switched off or deleted since the alert. */
async function findOpenChannel(
  { db, clock, plans, secrets }: Pick<Services, 'db' | 'clock' | 'plans' | 'secrets'>,
  workspaceId: string,
  channelId: string,
): Promise<Channel | Unsent> {
  const row = await channelRow(db, workspaceId, channelId).executeTakeFirst()
  if (row === undefined) return { outcome: 'failed', detail: 'The channel was deleted.' }
  const channel = channelOf(row, secrets)
  if (!channel.enabled) return { outcome: 'suppressed', detail: 'The channel is switched off.' }
  const isOver = await isOverPlan(db, channel, await planOfWorkspace(db, plans, workspaceId))
  const state = { inPlan: !isOver, connected: isConnected(channel), muted: isMuted(channel, clock.now()) }
  return reasonNot(state) ?? channel
}

/** Why a channel that is on does not get an alert; null when it does. */
export function reasonNot(of: {
  readonly inPlan: boolean
  readonly connected: boolean
  readonly muted: boolean
}) {
  if (!of.inPlan)
    return { outcome: 'suppressed', detail: 'The channel is over the limit of the plan.' } as const
  if (!of.connected) return { outcome: 'suppressed', detail: 'The channel has no credential.' } as const
  return of.muted ? ({ outcome: 'muted', detail: 'The channel is muted.' } as const) : null
}

/** The plan of a workspace, for jobs, which have no caller. */
export async function planOfWorkspace(db: Db, plans: Services['plans'], workspaceId: string): Promise<Plan> {
  const { plan } = await db
    .selectFrom('workspaces')
    .select('plan')
    .where('id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  return planOf(plans, plan)
}
