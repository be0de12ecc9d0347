import type { Alert } from '../../alerts/index.ts'
import type { Services } from '../../api/services.ts'
import { listContacts } from '../../contacts/index.ts'
import type { Trx } from '../../platform/db/index.ts'
import { alertMail } from './alertMail.ts'
import {
  type AlertDeliveryRow,
  ATTEMPTS_MAX,
  type AttemptResult,
  insertSends,
  nextSendAt,
} from './queries.ts'

export async function mailAlert(
  services: Services,
  row: AlertDeliveryRow & { readonly recipient: string },
  alert: Alert,
): Promise<AttemptResult> {
  const note = row.emailFallback
    ? `You get this by mail because the alert channel ${row.channelName} is failing.`
    : null
  const mail = await services.mailer.send({
    ...alertMail(alert, note),
    to: row.recipient,
    messageKey: `${alert.id}.${row.id}`,
  })
  const now = services.clock.now()
  return mail.outcome === 'sent'
    ? {
        outcome: 'delivered',
        detail: `Mailed to ${row.recipient}.`,
        statusCode: null,
        durationMs: mail.durationMs,
        nextAttemptAt: null,
      }
    : {
        outcome: 'failed',
        detail: mail.detail.slice(0, 300),
        statusCode: mail.statusCode,
        durationMs: mail.durationMs,
        nextAttemptAt: nextSendAt(now, {
          attempt: row.attemptCount,
          attemptsMax: row.attemptsMax,
          isPermanent: mail.outcome !== 'failed',
          // A status of SMTP is not one of HTTP.
          statusCode: null,
          retryAfter: null,
        }),
      }
}

/**
 * Mails an alert that its channel did not accept to every contact who has not been mailed it yet.
 *
 * @param row the channel's send; a failed mail has no fallback
 */
export async function mailInstead(services: Services, trx: Trx, row: AlertDeliveryRow): Promise<void> {
  const { alertId, workspaceId, channelId, channelName } = row
  if (row.recipient !== null) return
  const now = services.clock.now()
  const contacts = await listContacts(trx, workspaceId)
  await insertSends(
    services,
    trx,
    contacts.map(({ email }) => ({
      alertId,
      workspaceId,
      at: now,
      channelId,
      channelName,
      channelKind: 'email',
      recipient: email,
      emailFallback: true,
      attemptsMax: ATTEMPTS_MAX,
      nextAttemptAt: now,
    })),
  )
}
