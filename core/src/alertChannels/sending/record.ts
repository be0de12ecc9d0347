import { lockAlerts } from '../../alerts/index.ts'
import type { Services } from '../../api/services.ts'
import { listContacts } from '../../contacts/index.ts'
import { columnsOf, run, statement, type Trx } from '../../platform/db/index.ts'
import type { DataKeyRef } from '../../platform/secrets/index.ts'
import { recordHealth } from '../channel.ts'
import type { AlertResult } from './attempt.ts'
import type { ChannelSend } from './channelSend.ts'
import { type AlertDeliveryRow, ATTEMPTS_MAX, insertSends } from './queries.ts'

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

/** Writes reports to their attempt rows, in the transaction that records the sends. */
export type OnNotified = (services: Services, trx: Trx, reports: readonly NotifyReport[]) => Promise<void>

/** The end of the attempt of a claimed send. */
interface EndedSend {
  readonly send: AlertDeliveryRow
  readonly outcome: AlertResult
}

/**
 * Records attempts: of the sends `$1` the attempts `$2`. If another process has taken a send over, it is left as it is.
 * `at` stays the time of its first queuing: the history is newest first by it, and a retry moves nothing.
 */
const RECORD = statement(
  'record alerts sent',
  `update alert_deliveries d set outcome = g.outcome, detail = g.detail, status_code = g.status_code,
    duration_ms = g.duration_ms, next_attempt_at = g.next_at, leased_until = null
  from unnest($1::bigint[], $2::int[], $3::text[], $4::text[], $5::int[], $6::int[], $7::timestamptz[])
    as g (id, attempt, outcome, detail, status_code, duration_ms, next_at)
  where d.id = g.id and d.attempt_count = g.attempt and d.next_attempt_at is not null
  returning d.id`,
)

/**
 * Records sends, all in the same number of statements: their rows, the health of the channels, mails as a fallback for
 * those that no attempt follows, and the attempt rows of notify actions.
 */
export async function recordSends(
  services: Services,
  trx: Trx,
  ended: readonly EndedSend[],
  onNotified: OnNotified,
): Promise<void> {
  const results = ended.map(({ outcome: { result } }) => result)
  const rows = await run(trx, RECORD, [
    ended.map(({ send }) => send.id),
    ended.map(({ send }) => send.attemptCount),
    ...columnsOf(results, 'outcome', 'detail', 'statusCode', 'durationMs', 'nextAttemptAt'),
  ])
  const ids = new Set(rows.map(({ id }) => id))
  const recorded = ended.filter(({ send }) => ids.has(send.id))
  const sent = recorded.flatMap(({ outcome }) => outcome.sent ?? [])
  await recordHealth(services, trx, sent)
  await mailInstead(services, trx, recorded)
  const reports = recorded.flatMap(({ outcome }) => reportOf(outcome))
  if (reports.length > 0) await onNotified(services, trx, reports)
}

function reportOf({ alert, attemptId, sealing, at, result, sent }: AlertResult): NotifyReport[] {
  const { endpoint, requestId } = alert
  if (attemptId === null || endpoint === null || requestId === null) return []
  const of = { endpointId: endpoint.id, requestId, attemptId, sealing, finishedAt: at }
  return [{ ...of, ...result, delivered: result.outcome === 'delivered', send: sent?.send ?? null }]
}

/** Alerts among `$1` that are mailed, or that a channel took or may still take; served by the two unique indexes. */
const TOLD = statement(
  'alerts that others get',
  `select alert_id from alert_deliveries where alert_id = any($1::uuid[]) and recipient is not null
  union
  select alert_id from alert_deliveries
  where alert_id = any($1::uuid[]) and recipient is null and (outcome = 'delivered' or next_attempt_at is not null)`,
)

/**
 * Mails alerts that their channels did not accept to all contacts who have not been mailed them. A channel that was
 * muted, switched off or deleted before it got one is not failing: then contacts are mailed if no other send of it remains.
 */
async function mailInstead(services: Services, trx: Trx, ended: readonly EndedSend[]): Promise<void> {
  const untaken = ended.filter(
    ({ send, outcome: { alert, result } }) =>
      // A failed mail has no fallback.
      send.recipient === null &&
      result.nextAttemptAt === null &&
      result.outcome !== 'delivered' &&
      alert.kind !== 'action.notify',
  )
  const shut = untaken.flatMap(({ send, outcome }) => (outcome.isShut ? [send.alertId] : []))
  // One after the other, so that of the last sends of an alert one sees that it is the last.
  await lockAlerts(trx, shut)
  const told = shut.length === 0 ? [] : (await run(trx, TOLD, [shut])).map(({ alertId }) => alertId)
  const refused = untaken.filter(({ send, outcome }) => !outcome.isShut || !told.includes(send.alertId))
  const at = services.clock.now()
  for (const [workspaceId, group] of Map.groupBy(refused, ({ send }) => send.workspaceId)) {
    const contacts = await listContacts(trx, workspaceId)
    const rows = group.flatMap(({ send: { alertId, channelId, channelName }, outcome: { isShut } }) =>
      contacts.map(({ email }) => ({
        ...{ alertId, workspaceId, at, recipient: email, nextAttemptAt: at },
        channelId: isShut ? null : channelId,
        channelName: isShut ? null : channelName,
        channelKind: 'email' as const,
        emailFallback: !isShut,
        attemptsMax: ATTEMPTS_MAX,
      })),
    )
    await insertSends(services, trx, rows)
  }
}
