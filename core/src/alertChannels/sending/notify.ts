import { insertAlerts, type Named, type Occasion, ownAlert } from '../../alerts/index.ts'
import type { Services } from '../../api/services.ts'
import type { Trx } from '../../platform/db/index.ts'
import { type DataKeyRef, sealedAs } from '../../platform/secrets/index.ts'
import type { Channel } from '../channel.ts'
import { makeAttempt } from './attempt.ts'
import {
  type AlertDeliveryRow,
  ATTEMPTS_MAX,
  insertClaimed,
  insertSends,
  PRIORITY,
  sendOf,
} from './queries.ts'
import { type OnNotified, recordSends } from './record.ts'

export interface NotifyMessage extends Occasion {
  readonly endpoint: Named
  readonly requestId: number
  /** The action's channel. */
  readonly channel: Pick<Channel, 'id' | 'name' | 'kind'>
  readonly attemptId: number
  /** The rendered template, in the channel's markup. */
  readonly reason: string
  /** The key that seals the request, and so the message; null without. */
  readonly sealing: DataKeyRef | null
}

/**
 * Puts messages of notify actions in the outbox, each for its own channel only, regardless of subscriptions. The first
 * send finishes the attempt row; up to two retries update it. `onNotified` of the sending job is called each time. Any
 * number takes as many statements as one.
 */
export async function queueNotifies(
  services: Pick<Services, 'clock' | 'enqueue' | 'secrets'>,
  trx: Trx,
  messages: readonly NotifyMessage[],
): Promise<void> {
  if (messages.length === 0) return
  const written = messages.map((message) => writtenNotify(services, message))
  await insertAlerts(trx, ...written.map(({ alert }) => alert))
  await insertSends(
    services,
    trx,
    written.map(({ send }) => ({ ...send, attemptsMax: ATTEMPTS_MAX })),
  )
}

/**
 * Writes the message of an inline replay, in the transaction that writes its attempt row. The caller sends it at once
 * by {@link sendNotify}: if that is cut off, or this process dies, the outbox sends it and finishes the attempt row.
 */
export async function writeNotify(
  services: Pick<Services, 'clock' | 'secrets'>,
  trx: Trx,
  message: NotifyMessage,
): Promise<AlertDeliveryRow> {
  const { alert, send } = writtenNotify(services, message)
  await insertAlerts(trx, alert)
  return await insertClaimed(trx, { ...send, attemptsMax: 1 }, services.clock.now())
}

/** Makes the send of a message that {@link writeNotify} has written and that is committed. */
export async function sendNotify(
  services: Services,
  send: AlertDeliveryRow,
  signal: AbortSignal,
  onNotified: OnNotified,
): Promise<void> {
  const outcome = await makeAttempt(services, send, signal)
  if (outcome === null) return
  await services.db
    .transaction()
    .execute((trx) => recordSends(services, trx, [{ send, outcome }], onNotified))
}

/** The rows of a message: its alert, and the one send. */
function writtenNotify({ clock, secrets }: Pick<Services, 'clock' | 'secrets'>, message: NotifyMessage) {
  const now = clock.now()
  const { channel, workspaceId, reason, sealing } = message
  const alert = {
    ...ownAlert('action.notify', { ...message, reason: sealing === null ? reason : null }, now),
    ...sealedAs(secrets, sealing, { reason }),
  }
  const of = sendOf({ ...channel, workspaceId }, alert.id, now)
  return { alert, send: { ...of, nextAttemptAt: now, priority: PRIORITY.notify } }
}
