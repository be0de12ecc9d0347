import type { Selectable } from 'kysely'
import type { z } from 'zod'
import { everySubscription, type StoredSubscriptions, type Subscription } from '../alerts/index.ts'
import type { AlertChannelsTable } from '../platform/db/index.ts'
import type { SecretBox } from '../platform/secrets/index.ts'
import { HEALTHS, type HealthState } from './health.ts'
import { type ChannelKindName, channelKind, isChannelKind } from './kinds/index.ts'
import type { AlertChannel } from './schema.ts'
import type { ChannelSettings } from './settings.ts'

/** A stored channel: settings and events are JSON text, the secret is encrypted. */
export type ChannelRow = Selectable<AlertChannelsTable>

/** A channel in the domain: settings and subscriptions are parsed, the credential is decrypted. */
export interface Channel extends HealthState {
  readonly id: string
  readonly workspaceId: string
  readonly kind: ChannelKindName
  readonly name: string
  readonly enabled: boolean
  readonly settings: ChannelSettings
  /** Decrypted: never shown, logged or stored. */
  readonly secret: string | null
  readonly secretSetAt: Date | null
  readonly events: readonly Subscription[]
  readonly mutedUntil: Date | null
  readonly createdAt: Date
}

/** @throws Error when this build does not know the row's kind, or the secret key is another one */
export function channelOf(row: ChannelRow, secrets: SecretBox): Channel {
  if (!isChannelKind(row.kind)) throw new Error(`The channel ${row.id} has the unknown kind ${row.kind}.`)
  const events: StoredSubscriptions = JSON.parse(row.events)
  return {
    ...row,
    kind: row.kind,
    settings: JSON.parse(row.settings),
    events: typeof events === 'string' ? everySubscription(events) : events,
    secret: row.secret === null ? null : secrets.open(row.secret, row.workspaceId),
    health: HEALTHS.find((health) => health === row.health) ?? 'untested',
  }
}

/** Whether a send is possible: a required credential and every required setting are present. */
export function isConnected({
  kind,
  secret,
  settings,
}: Pick<Channel, 'kind' | 'secret' | 'settings'>): boolean {
  const { credentialRequired, fields } = channelKind(kind)
  if (credentialRequired && secret === null) return false
  return fields.every((field) => !field.required || (settings[field.name] ?? null) !== null)
}

export function isMuted({ mutedUntil }: Pick<Channel, 'mutedUntil'>, now: Date): boolean {
  return mutedUntil !== null && mutedUntil > now
}

/** Destination of the channel, without secrets; null while it is unknown. */
export function destinationOf({ kind, secret, settings }: Channel): string | null {
  return channelKind(kind).destination({ secret, settings })
}

/** A channel in the API's format, without its secret. */
export function channelView(channel: Channel): z.input<typeof AlertChannel> {
  const { id, kind, name, enabled, health, settings, mutedUntil, events, createdAt } = channel
  const { lastSuccessAt, lastFailureAt, lastError, consecutiveFailures } = channel
  return {
    id,
    kind,
    name,
    enabled,
    health,
    credentialSet: channel.secret !== null,
    credentialSetAt: channel.secretSetAt,
    connected: isConnected(channel),
    destination: destinationOf(channel),
    settings,
    mutedUntil,
    events: [...events],
    lastSuccessAt,
    lastFailureAt,
    lastError,
    consecutiveFailures,
    createdAt,
  }
}
