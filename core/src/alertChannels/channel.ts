import type { Selectable } from 'kysely'
import type { Subscription } from '../alerts/index.ts'
import type { AlertChannelsTable } from '../platform/db/index.ts'
import type { SecretBox } from '../platform/secrets/index.ts'
import type { HealthState } from './health.ts'
import { HEALTHS } from './health.ts'
import { type ChannelKindName, channelKind, isChannelKind } from './kinds/index.ts'
import type { ChannelSettings } from './settings.ts'

/** A channel as it is stored: settings and events are JSON text, the secret is encrypted. */
export type ChannelRow = Selectable<AlertChannelsTable>

/** A channel as the domain sees it: settings and subscriptions read, the credential in the clear. */
export interface Channel extends HealthState {
  readonly id: string
  readonly workspaceId: string
  readonly kind: ChannelKindName
  readonly name: string
  readonly enabled: boolean
  readonly settings: ChannelSettings
  /** In the clear: never shown, logged or stored. */
  readonly secret: string | null
  readonly secretSetAt: Date | null
  readonly events: readonly Subscription[]
  readonly mutedUntil: Date | null
  readonly createdAt: Date
}

/** @throws Error when the row's kind is none of this build's, or the secret key is another one */
export function channelOf(row: ChannelRow, secrets: SecretBox): Channel {
  if (!isChannelKind(row.kind)) throw new Error(`The channel ${row.id} has the unknown kind ${row.kind}.`)
  return {
    ...row,
    kind: row.kind,
    settings: JSON.parse(row.settings),
    events: JSON.parse(row.events),
    secret: row.secret === null ? null : secrets.open(row.secret, row.workspaceId),
    health: HEALTHS.find((health) => health === row.health) ?? 'untested',
  }
}

/** Whether everything is there that a send needs: a required credential and every required setting. */
export function isConnected({
  kind,
  secret,
  settings,
}: Pick<Channel, 'kind' | 'secret' | 'settings'>): boolean {
  const { credentialRequired, fields } = channelKind(kind)
  if (credentialRequired && secret === null) return false
  return fields.every((field) => !field.required || (settings[field.name] ?? null) !== null)
}

/** Whether it is muted at that time. */
export function isMuted({ mutedUntil }: Pick<Channel, 'mutedUntil'>, now: Date): boolean {
  return mutedUntil !== null && mutedUntil > now
}

/** Where it goes, without secrets; null while that is not known. */
export function destinationOf({ kind, secret, settings }: Channel): string | null {
  return channelKind(kind).destination({ secret, settings })
}
