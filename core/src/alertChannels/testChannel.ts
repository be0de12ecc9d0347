import type { z } from 'zod'
import { findAlert, insertAlerts, ownAlert } from '../alerts/index.ts'
import type { Context } from '../api/context.ts'
import { afterEffect } from '../api/problem.ts'
import { requireStays } from '../api/seal.ts'
import type { Trx } from '../platform/db/index.ts'
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
    await change(ctx, (trx) => writeHistory(ctx, trx, { channel, alertId, outcome: 'suppressed' }, tested))
    return tested
  }
  const found = await findAlert(ctx.db, alertId)
  if (found === undefined) throw new Error('The test alert that was just written is gone.')
  // Not cut when the caller hangs up, which says nothing of the channel. The send is bounded.
  const send = await sendToChannel(ctx, channel, found.alert)
  const outcome = send.delivered ? 'delivered' : 'failed'
  await afterEffect(() =>
    change(ctx, async (trx) => {
      await recordHealth(ctx, trx, [{ channel, send }], true)
      await writeHistory(ctx, trx, { channel, alertId, outcome }, send)
    }),
  )
  return send
}

async function change(ctx: Context, work: (trx: Trx) => Promise<void>): Promise<void> {
  await ctx.db.transaction().execute(async (trx) => {
    await work(trx)
    await requireStays(ctx, trx, ctx.workspace.id)
  })
}

async function writeAlert(ctx: Context, { id, workspaceId, name }: Channel): Promise<string> {
  const of = { workspaceId, subject: { id, name }, endpoint: null, requestId: null, reason: null }
  const alert = ownAlert('channel.test', of, ctx.clock.now())
  await change(ctx, (trx) => insertAlerts(trx, alert))
  return alert.id
}

async function writeHistory(
  ctx: Context,
  trx: Trx,
  { channel, alertId, outcome }: { channel: Channel; alertId: string; outcome: Outcome },
  { detail, statusCode, durationMs }: Tested,
): Promise<void> {
  const of = sendOf(channel, alertId, ctx.clock.now())
  await insertSends(ctx, trx, [
    { outcome, detail, statusCode, durationMs, ...of, attemptCount: 1, attemptsMax: 1 },
  ])
}
