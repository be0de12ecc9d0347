import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { everySubscription, storedSubscriptions } from '../alerts/index.ts'
import type { Context } from '../api/context.ts'
import { notFound, validationFailed } from '../api/errors.ts'
import { requireRoom } from '../api/planGates.ts'
import { changeOf, recordChange } from '../audit/index.ts'
import { lockWorkspace } from '../workspaces/index.ts'
import { type Channel, channelOf, channelView, settingsView } from './channel.ts'
import { movedTokenIssues } from './check.ts'
import { UNTESTED } from './health.ts'
import { channelKind } from './kinds/index.ts'
import { channelRow, countChannels } from './queries.ts'
import type { CreateInput, SubscriptionInput, UpdateInput } from './schema.ts'
import { readSettings } from './settings.ts'

/** A channel's change for the audit log: its settings, without the results of sends. */
export function channelChange(action: string, before: Channel | null, after: Channel | null) {
  return changeOf(['alertChannel', action], before, after, settingsView)
}

/**
 * Creates a channel, untested.
 *
 * @param input checked by `checkNewChannel`
 * @throws DomainError `limit_reached` at the plan's limit of channels
 */
export async function createChannel(ctx: Context, input: CreateInput) {
  const now = ctx.clock.now()
  const { displayName, fields } = channelKind(input.kind)
  const row = {
    id: randomUUID(),
    workspaceId: ctx.workspace.id,
    kind: input.kind,
    name: input.name ?? displayName,
    enabled: input.enabled ?? true,
    ...credentialColumns(ctx, input.secret, now),
    settings: JSON.stringify(readSettings(fields, input.settings, {}).settings),
    events: eventsColumn(input.events ?? everySubscription('info')),
    mutedUntil: muteOf(input.mutedUntil, now) ?? null,
    createdAt: now,
  }
  return await ctx.db.transaction().execute(async (trx) => {
    await lockWorkspace(trx, ctx.workspace.id)
    requireRoom(ctx.plan, 'alertChannelsMax', await countChannels(trx, ctx.workspace.id), 'alert channels')
    const inserted = trx.insertInto('alertChannels').values(row).returningAll()
    const made = channelOf(await inserted.executeTakeFirstOrThrow(), ctx.secrets)
    await recordChange(trx, ctx, channelChange('alertChannels.create', null, made))
    return channelView(made)
  })
}

/**
 * Changes the given members. A changed credential or setting makes the channel untested; name, events, mute and the
 * switch do not.
 *
 * @param input checked by `checkChannelChange`
 * @throws DomainError `not_found` when the channel was deleted meanwhile, `validation_failed` when its token was given
 *   for another host than the one it would now go to
 */
export async function changeChannel(ctx: Context, id: string, input: UpdateInput) {
  const now = ctx.clock.now()
  return await ctx.db.transaction().execute(async (trx) => {
    const row = await channelRow(trx, ctx.workspace.id, id).forUpdate().executeTakeFirst()
    if (row === undefined) throw notFound('alert channel')
    const channel = channelOf(row, ctx.secrets)
    const kind = channelKind(channel.kind)
    const { settings } = readSettings(kind.fields, input.settings, channel.settings)
    // The channel may have changed since the check.
    const misfits = movedTokenIssues(kind, channel, input.secret, settings)
    if (misfits.length > 0) throw validationFailed(misfits)
    const credentialChanged = input.secret !== undefined && input.secret !== (channel.secret ?? '')
    const mutedUntil = muteOf(input.mutedUntil, now)
    const changed = await trx
      .updateTable('alertChannels')
      .set({
        name: input.name ?? channel.name,
        enabled: input.enabled ?? channel.enabled,
        settings: JSON.stringify(settings),
        ...(credentialChanged ? credentialColumns(ctx, input.secret, now) : {}),
        ...(credentialChanged || !isDeepStrictEqual(settings, channel.settings) ? UNTESTED : {}),
        ...(input.events === undefined ? {} : { events: eventsColumn(input.events) }),
        ...(mutedUntil === undefined ? {} : { mutedUntil }),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    const after = channelOf(changed, ctx.secrets)
    await recordChange(trx, ctx, channelChange('alertChannels.update', channel, after))
    return channelView(after)
  })
}

function credentialColumns(
  { secrets, workspace }: Pick<Context, 'secrets' | 'workspace'>,
  secret: string | undefined,
  now: Date,
) {
  return secret === undefined || secret === ''
    ? { secret: null, secretSetAt: null }
    : { secret: secrets.seal(secret, workspace.id), secretSetAt: now }
}

const eventsColumn = (events: readonly SubscriptionInput[]): string =>
  JSON.stringify(
    storedSubscriptions(
      events.map(({ kind, minSeverity }) => ({ kind, minSeverity: minSeverity ?? 'info' })),
    ),
  )

/** Undefined: unchanged; null: not muted. A time in the past unmutes. */
function muteOf(mutedUntil: string | undefined, now: Date): Date | null | undefined {
  if (mutedUntil === undefined) return undefined
  const until = new Date(mutedUntil)
  return mutedUntil === '' || until <= now ? null : until
}
