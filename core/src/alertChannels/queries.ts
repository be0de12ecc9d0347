import { sql } from 'kysely'
import type { Context } from '../api/context.ts'
import type { Finds } from '../api/contract.ts'
import { foundById, notFound } from '../api/errors.ts'
import type { Plan } from '../plans/index.ts'
import { countOf, type Db, type Trx } from '../platform/db/index.ts'
import { type Channel, type ChannelRow, channelOf, destinationOf, isConnected } from './channel.ts'
import type { ChannelKindName } from './kinds/index.ts'

/** The query of the channels of a workspace. */
export const channelRows = (db: Db, workspaceId: string) =>
  db.selectFrom('alertChannels').selectAll().where('workspaceId', '=', workspaceId)

/** The query of a channel, which has no row if it is absent or another workspace's. */
export const channelRow = (db: Db, workspaceId: string, id: string) =>
  channelRows(db, workspaceId).where('id', '=', id)

/** All channels, oldest first: those beyond the plan's limit come last. */
export function allChannelRows(db: Db, workspaceId: string): Promise<ChannelRow[]> {
  return channelRows(db, workspaceId).orderBy('createdAt').orderBy('id').execute()
}

/** Counts every channel of the workspace, including those that are switched off or over the plan's limit. */
export async function countChannels(
  db: Db,
  workspaceId: string,
  condition = sql<boolean>`true`,
): Promise<number> {
  return await countOf(db.selectFrom('alertChannels').where('workspaceId', '=', workspaceId).where(condition))
}

/** Whether as many older channels as the plan allows exist. */
export async function isOverPlan(
  db: Db,
  { workspaceId, createdAt, id }: Pick<ChannelRow, 'workspaceId' | 'createdAt' | 'id'>,
  { limits }: Plan,
): Promise<boolean> {
  const older = sql<boolean>`(created_at, id) < (${createdAt}, ${id})`
  return (await countChannels(db, workspaceId, older)) >= limits.alertChannelsMax
}

/** Deletes one row. @throws DomainError `not_found` when it was deleted meanwhile */
export async function deleteChannel(trx: Trx, id: string): Promise<void> {
  const gone = await trx.deleteFrom('alertChannels').where('id', '=', id).executeTakeFirst()
  if (gone.numDeletedRows === 0n) throw notFound('alert channel')
}

/**
 * Finds the channel that `{id}` names.
 * @throws DomainError `not_found` for an absent, foreign or malformed id alike
 */
export const findsChannel: Finds<{ channel: Channel }> = async ({ db, secrets, workspace }, ids) => {
  const find = (id: string) => channelRow(db, workspace.id, id).executeTakeFirst()
  return { channel: channelOf(await foundById(ids.id, 'alert channel', find), secrets) }
}

/** A channel as actions use it. */
export interface ChannelState {
  readonly id: string
  readonly name: string
  readonly kind: ChannelKindName
  readonly isEnabled: boolean
  /** Whether everything that a send needs is present. */
  readonly isConfigured: boolean
  /** On, configured and in plan. If false, a notify action has `channelUnavailable`. */
  readonly isAvailable: boolean
  /** The `url` that attempts of a notify action show. */
  readonly destination: string | null
}

/** Every channel of the workspace, oldest first, for the options of actions and for `channelUnavailable`. */
export async function listChannelStates(
  { db, secrets }: Pick<Context, 'db' | 'secrets'>,
  workspaceId: string,
  plan: Plan,
): Promise<ChannelState[]> {
  return (await allChannelRows(db, workspaceId)).map((row, at) => {
    const channel = channelOf(row, secrets)
    const isConfigured = isConnected(channel)
    return {
      id: channel.id,
      name: channel.name,
      kind: channel.kind,
      isEnabled: channel.enabled,
      isConfigured,
      isAvailable: channel.enabled && isConfigured && at < plan.limits.alertChannelsMax,
      destination: destinationOf(channel),
    }
  })
}
