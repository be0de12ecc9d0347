import type { Context } from '../api/context.ts'
import type { Finds } from '../api/contract.ts'
import { foundById } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import type { Plan } from '../plans/index.ts'
import { type Channel, channelOf, destinationOf, isConnected } from './channel.ts'
import type { ChannelKindName } from './kinds/index.ts'
import { allChannelRows, findChannelRow } from './queries.ts'

/**
 * Finds the channel that `{id}` names.
 * @throws DomainError `not_found` for an absent, foreign or malformed id alike
 */
export const findsChannel: Finds<{ channel: Channel }> = async (ctx, ids) => {
  return { channel: await foundById(ids.id, 'alert channel', (id) => findChannel(ctx, ctx.workspace.id, id)) }
}

/** The channel; undefined if it is absent or another workspace's. */
export async function findChannel(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  workspaceId: string,
  id: string,
): Promise<Channel | undefined> {
  const row = await findChannelRow(db, workspaceId, id)
  return row === undefined ? undefined : channelOf(row, secrets)
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
