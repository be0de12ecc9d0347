import { randomUUID } from 'node:crypto'
import { EVENTS, findAlert, insertAlerts, outboxRow } from '../alerts/index.ts'
import type { Context } from '../api/context.ts'
import { type Channel, recordHealth } from './channel.ts'
import { countOlderChannels } from './queries.ts'
import type { Outcome } from './schema.ts'
import { sendToChannel } from './sending/channelSend.ts'
import { insertSends } from './sending/queries.ts'

/** Result of a test, in the API's format. */
interface Tested {
  readonly delivered: boolean
  readonly detail: string | null
  readonly statusCode: number | null
  readonly durationMs: number
}

/**
 * Sends a real message, also to a channel that is off or muted, and records it in the history. A rejected send is a
 * result, not an error.
 *
 * @param channel connected, as checked by `checkConnected`
 */
export async function testChannel(ctx: Context, channel: Channel): Promise<Tested> {
  if ((await countOlderChannels(ctx.db, channel)) >= ctx.plan.limits.alertChannelsMax) {
    const detail = `The channel is over the limit of the ${ctx.plan.displayName} plan.`
    const tested = { delivered: false, detail, statusCode: null, durationMs: 0 }
    await writeHistory(ctx, channel, await writeAlert(ctx, channel), tested, 'suppressed')
    return tested
  }
  const alertId = await writeAlert(ctx, channel)
  const found = await findAlert(ctx.db, alertId)
  if (found === undefined) throw new Error('The test alert that was just written is gone.')
  const send = await sendToChannel(ctx, channel, found.alert, ctx.signal)
  const { delivered, detail, statusCode, durationMs } = send
  await ctx.db.transaction().execute((trx) => recordHealth(ctx, trx, [{ channel, send }], true))
  await writeHistory(
    ctx,
    channel,
    alertId,
    { detail, statusCode, durationMs },
    delivered ? 'delivered' : 'failed',
  )
  return { delivered, detail, statusCode, durationMs }
}

/** Writes the alert as already fanned out, because the caller sends it itself. */
async function writeAlert({ db, clock }: Context, { id, workspaceId, name }: Channel): Promise<string> {
  const kind = 'channel.test'
  const alertId = randomUUID()
  const now = clock.now()
  await db.transaction().execute((trx) =>
    insertAlerts(trx, {
      ...outboxRow({
        workspaceId,
        kind,
        severity: EVENTS[kind].defaultSeverity,
        status: 'single',
        subject: { id, name },
        endpoint: null,
        requestId: null,
        reason: null,
        count: 1,
      }),
      id: alertId,
      occurredAt: now,
      fannedOutAt: now,
    }),
  )
  return alertId
}

async function writeHistory(
  ctx: Context,
  channel: Channel,
  alertId: string,
  result: Omit<Tested, 'delivered'>,
  outcome: Outcome,
): Promise<void> {
  const { detail, statusCode, durationMs } = result
  await ctx.db.transaction().execute((trx) =>
    insertSends(ctx, trx, [
      {
        alertId,
        workspaceId: channel.workspaceId,
        at: ctx.clock.now(),
        channelId: channel.id,
        channelName: channel.name,
        channelKind: channel.kind,
        outcome,
        detail,
        statusCode,
        durationMs,
        attemptCount: 1,
        attemptsMax: 1,
      },
    ]),
  )
}
