import { Counter } from 'prom-client'
import type { Alert } from '../../alerts/index.ts'
import type { Services } from '../../api/services.ts'
import { retryAfterOf } from '../../dispatch/index.ts'
import type { Trx } from '../../platform/db/index.ts'
import { registers } from '../../platform/metrics/index.ts'
import type { DataKeyRef } from '../../platform/secrets/index.ts'
import { type Channel, channelOf } from '../channel.ts'
import { healthAfter } from '../health.ts'
import { CHANNEL_KIND_NAMES } from '../kinds/index.ts'
import { lockChannelRow, updateHealth } from '../queries.ts'
import type { Unavailable } from './availability.ts'
import type { ChannelSend } from './channelSend.ts'
import { mailInstead } from './mailAlert.ts'
import { type AlertDeliveryRow, type AttemptResult, nextSendAt, recordAttempt } from './queries.ts'

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
  for (const outcome of ['delivered', 'failed', 'muted', 'suppressed'])
    alertSendsTotal.inc({ outcome, channel }, 0)
}

/** Result of a notify action's send, for its attempt row. */
export interface NotifyReport {
  readonly endpointId: string
  readonly requestId: number
  readonly attemptId: number
  readonly delivered: boolean
  /** Null when nothing was sent because the channel was not available; `detail` has the reason. */
  readonly send: ChannelSend | null
  readonly detail: string | null
  readonly finishedAt: Date
  /** The key that seals the request; null without. */
  readonly sealing: DataKeyRef | null
  /** When the outbox retries, and reports again; null when this result is final. */
  readonly nextAttemptAt: Date | null
}

/** Writes a report to its attempt row, in the transaction that records the attempt. */
export type OnNotified = (services: Services, trx: Trx, report: NotifyReport) => Promise<void>

/** Result of an attempt at a channel: a send, or the reason why there was none. */
type ChannelAttempt =
  | { readonly send: ChannelSend; readonly channel: Channel; readonly unavailable: null }
  | { readonly send: null; readonly channel: Channel | null; readonly unavailable: Unavailable | null }

export interface ChannelResult {
  readonly kind: 'channel'
  readonly alert: Alert
  /** The attempt row of a notify action. */
  readonly attemptId: number | null
  /** The key that seals the message of the alert; null without. */
  readonly sealing: DataKeyRef | null
  readonly attempt: ChannelAttempt
}

export type SendResult = ChannelResult | { readonly kind: 'mail'; readonly mail: AttemptResult }

/**
 * Records a send: its row and, for a channel, the channel's health, and mail as a fallback if no attempt follows.
 *
 * @returns the result for the attempt row; undefined when there is none, or the claim was lost to another worker
 */
export async function recordSend(
  services: Services,
  trx: Trx,
  row: AlertDeliveryRow,
  sent: SendResult,
  onNotified: OnNotified,
): Promise<NotifyReport | undefined> {
  const now = services.clock.now()
  const ended = sent.kind === 'mail' ? sent.mail : resultOf(row, sent.attempt, now)
  // The words of a provider may repeat the message.
  const isSealed = sent.kind === 'channel' && sent.sealing !== null
  const result = isSealed ? { ...ended, detail: null } : ended
  alertSendsTotal.inc({ outcome: result.outcome, channel: row.channelKind })
  if (!(await recordAttempt(trx, row, result, now)) || sent.kind === 'mail') return undefined
  const { alert, attemptId, attempt } = sent
  const delivered = result.outcome === 'delivered'
  if (attempt.send !== null) {
    const send = isSealed ? { ...attempt.send, detail: null } : attempt.send
    await recordHealth(services, trx, attempt.channel, send, now)
  }
  if (result.nextAttemptAt === null && !delivered && alert.kind !== 'action.notify')
    await mailInstead(services, trx, row)
  const { endpoint, requestId } = alert
  if (attemptId === null || endpoint === null || requestId === null) return undefined

  const report: NotifyReport = {
    endpointId: endpoint.id,
    requestId,
    attemptId,
    delivered,
    send: attempt.send,
    detail: result.detail,
    finishedAt: now,
    sealing: sent.sealing,
    nextAttemptAt: result.nextAttemptAt,
  }
  await onNotified(services, trx, report)
  return report
}

function resultOf(row: AlertDeliveryRow, { send, channel, unavailable }: ChannelAttempt, now: Date) {
  if (send === null) {
    const { outcome, detail } = unavailable ?? { outcome: 'failed' as const, detail: null }
    return { outcome, detail, statusCode: null, durationMs: null, nextAttemptAt: null }
  }
  // A channel that is already failing gets one attempt per alert.
  const attemptsMax = channel.health === 'failing' ? 1 : row.attemptsMax
  return {
    outcome: send.delivered ? ('delivered' as const) : ('failed' as const),
    detail: send.detail,
    statusCode: send.statusCode,
    durationMs: send.durationMs,
    nextAttemptAt: send.delivered
      ? null
      : nextSendAt(now, {
          attempt: row.attemptCount,
          attemptsMax,
          isPermanent: send.permanent,
          statusCode: send.statusCode,
          retryAfter: retryAfterOf(send.received?.headers),
        }),
  }
}

/**
 * Updates the channel's health after a send, unless its credential or a setting has changed meanwhile: the result says
 * nothing about the new ones.
 */
async function recordHealth(
  { secrets }: Pick<Services, 'secrets'>,
  trx: Trx,
  used: Channel,
  send: ChannelSend,
  now: Date,
): Promise<void> {
  const row = await lockChannelRow(trx, used.workspaceId, used.id)
  if (row === undefined) return
  const current = channelOf(row, secrets)
  if (current.secret !== used.secret || row.settings !== JSON.stringify(used.settings)) return
  await updateHealth(trx, used.id, healthAfter(current, send, false, now))
}
