import { channelKind, isChannelKind } from '../alertChannels/kinds/index.ts'
import type { Db } from '../db/index.ts'
import { hasFeature, type Plan } from '../plans/index.ts'

/** A channel as far as notify actions care. */
export interface ChannelOption {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly isEnabled: boolean
  /** Everything is there that a send needs. */
  readonly isConfigured: boolean
  /** Enabled, configured and within the plan. */
  readonly isAvailable: boolean
}

/** Every channel of the workspace, oldest first: those beyond the plan's number are not available (CONTRACT R12). */
export async function listChannelOptions(db: Db, workspaceId: string, plan: Plan): Promise<ChannelOption[]> {
  if (!hasFeature(plan, 'alertChannels')) return []
  const rows = await db
    .selectFrom('alertChannels')
    .where('workspaceId', '=', workspaceId)
    .orderBy('createdAt')
    .orderBy('id')
    .select(['id', 'name', 'kind', 'enabled', 'settings'])
    .select((of) => of('secret', 'is not', null).as('hasSecret'))
    .execute()
  return rows.map(({ id, name, kind, enabled, settings, hasSecret }, at) => {
    const isConfigured = isComplete(kind, JSON.parse(settings), Boolean(hasSecret))
    const isAvailable = enabled && isConfigured && at < plan.limits.alertChannelsMax
    return { id, name, kind, isEnabled: enabled, isConfigured, isAvailable }
  })
}

function isComplete(kind: string, settings: Readonly<Record<string, unknown>>, hasSecret: boolean): boolean {
  if (!isChannelKind(kind)) return false
  const { credentialRequired, fields } = channelKind(kind)
  return (
    (hasSecret || !credentialRequired) &&
    fields.every(({ required, name }) => !required || (settings[name] ?? null) !== null)
  )
}
