import type { z } from 'zod'
import { findAlert, insertAlerts, ownAlert } from '../alerts/index.ts'
import type { Context } from '../api/context.ts'
import { type Channel, recordHealth } from './channel.ts'
import { isOverPlan } from './queries.ts'
import type { Outcome, TestResult } from './schema.ts'
import { sendToChannel } from './sending/channelSend.ts'
import { insertSends, sendOf } from './sending/queries.ts'

type Tested = z.output<typeof TestResult>

/**
 * Sends a real message, also to a channel that is off or muted, and records it in the history. A rejected send is a
 * result, not an error.
 *
 * @param channel connected, as checked by `checkConnected`
 */
export async function testChannel(ctx: Context, channel: Channel): Promise<Tested> {
  const alertId = await writeAlert(ctx, channel)
  if (await isOverPlan(ctx.db, channel, ctx.plan)) {
    const detail = `The channel is over the limit of the ${ctx.plan.displayName} plan.`
    const tested = { delivered: false, detail, statusCode: null, durationMs: 0 }
    await writeHistory(ctx, channel, alertId, tested, 'suppressed')
    return tested
  }
  const found = await findAlert(ctx.db, alertId)
  if (found === undefined) throw new Error('The test alert that was just written is gone.')
  const send = await sendToChannel(ctx, channel, found.alert, ctx.signal)
  await ctx.db.transaction().execute((trx) => recordHealth(ctx, trx, [{ channel, send }], true))
  await writeHistory(ctx, channel, alertId, send, send.delivered ? 'delivered' : 'failed')
  return send
}

async function writeAlert({ db, clock }: Context, { id, workspaceId, name }: Channel): Promise<string> {
  const of = { workspaceId, subject: { id, name }, endpoint: null, requestId: null, reason: null }
  const alert = ownAlert('channel.test', of, clock.now())
  await db.transaction().execute((trx) => insertAlerts(trx, alert))
  return alert.id
}

async function writeHistory(
  ctx: Context,
  channel: Channel,
  alertId: string,
  { detail, statusCode, durationMs }: Tested,
  outcome: Outcome,
): Promise<void> {
  await ctx.db.transaction().execute((trx) =>
    insertSends(ctx, trx, [
      {
        outcome,
        detail,
        statusCode,
        durationMs,
        ...sendOf(channel, alertId, ctx.clock.now()),
        attemptCount: 1,
        attemptsMax: 1,
      },
    ]),
  )
}
