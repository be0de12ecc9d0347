import type { Services } from '../../api/services.ts'
import { type Plan, planOf } from '../../plans/index.ts'
import type { Db } from '../../platform/db/index.ts'
import { type Channel, channelOf, isConnected, isMuted } from '../channel.ts'
import { countOlderChannels, findChannelRow } from '../queries.ts'

/** Reason why nothing is sent to a channel now. */
export interface Unavailable {
  readonly outcome: 'failed' | 'muted' | 'suppressed'
  readonly detail: string
}

export interface Availability {
  /** Null when it was deleted. */
  readonly channel: Channel | null
  /** The reason why nothing is sent; null if sending is possible. */
  readonly unavailable: Unavailable | null
}

/** Checks a channel before every attempt: it may have been muted, switched off or deleted since the alert. */
export async function availabilityOf(
  { db, clock, plans, secrets }: Pick<Services, 'db' | 'clock' | 'plans' | 'secrets'>,
  workspaceId: string,
  channelId: string,
): Promise<Availability> {
  const row = await findChannelRow(db, workspaceId, channelId)
  if (row === undefined) {
    return { channel: null, unavailable: { outcome: 'failed', detail: 'The channel was deleted.' } }
  }
  const channel = channelOf(row, secrets)
  const suppressed = (detail: string) => ({
    channel,
    unavailable: { outcome: 'suppressed' as const, detail },
  })
  if (!channel.enabled) return suppressed('The channel is switched off.')
  if (!isConnected(channel)) return suppressed('The channel has no credential.')
  const plan = await planOfWorkspace(db, plans, workspaceId)
  if ((await countOlderChannels(db, channel)) >= plan.limits.alertChannelsMax) {
    return suppressed('The channel is over the limit of the plan.')
  }
  if (isMuted(channel, clock.now())) {
    return { channel, unavailable: { outcome: 'muted', detail: 'The channel is muted.' } }
  }
  return { channel, unavailable: null }
}

/** The plan of a workspace, for jobs, which have no caller. */
export async function planOfWorkspace(db: Db, plans: Services['plans'], workspaceId: string): Promise<Plan> {
  const { plan } = await db
    .selectFrom('workspaces')
    .select('plan')
    .where('id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  return planOf(plans, plan)
}
