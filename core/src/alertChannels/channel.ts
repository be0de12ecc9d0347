import type { Selectable } from 'kysely'
import type { z } from 'zod'
import { everySubscription, type StoredSubscriptions, type Subscription } from '../alerts/index.ts'
import type { Services } from '../api/services.ts'
import { type AlertChannelsTable, columnsOf, run, statement, type Trx } from '../platform/db/index.ts'
import type { SecretBox } from '../platform/secrets/index.ts'
import { type HealthState, healthAfter } from './health.ts'
import { channelKind, type Reading } from './kinds/index.ts'
import type { AlertChannel } from './schema.ts'
import type { ChannelSettings } from './settings.ts'

/** A stored channel: settings and events are JSON text, the secret is encrypted. */
export type ChannelRow = Selectable<AlertChannelsTable>

/** A channel in the domain: settings and subscriptions are parsed, the credential is decrypted. */
export interface Channel extends Omit<ChannelRow, 'settings' | 'secret' | 'events'> {
  readonly settings: ChannelSettings
  /** Decrypted: never shown, logged or stored. */
  readonly secret: string | null
  readonly events: readonly Subscription[]
}

/** @throws Error when the secret key is another one */
export function channelOf(row: ChannelRow, secrets: SecretBox): Channel {
  const events: StoredSubscriptions = JSON.parse(row.events)
  return {
    ...row,
    settings: JSON.parse(row.settings),
    events: typeof events === 'string' ? everySubscription(events) : events,
    secret: row.secret === null ? null : secrets.open(row.secret, row.workspaceId),
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

/** The part of a channel that callers set, without its secret. */
export function settingsView(channel: Channel) {
  const { id, kind, name, enabled, settings, mutedUntil, events, createdAt } = channel
  return {
    id,
    kind,
    name,
    enabled,
    settings,
    mutedUntil,
    createdAt,
    events: [...events],
    credentialSet: channel.secret !== null,
    credentialSetAt: channel.secretSetAt,
  }
}

/** A channel in the API's format, without its secret. */
export function channelView(channel: Channel): z.input<typeof AlertChannel> {
  const { health, lastSuccessAt, lastFailureAt, lastError, consecutiveFailures } = channel
  return {
    ...settingsView(channel),
    health,
    lastSuccessAt,
    lastFailureAt,
    lastError,
    consecutiveFailures,
    connected: isConnected(channel),
    destination: destinationOf(channel),
  }
}

const STORE = statement(
  'store health of channels',
  `update alert_channels c set health = g.health, last_success_at = g.success_at, last_failure_at = g.failure_at,
    last_error = g.error, consecutive_failures = g.failures
  from unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::text[], $6::int[])
    as g (id, health, success_at, failure_at, error, failures)
  where c.id = g.id`,
)

/**
 * Updates the health of channels after sends, in their order. If the credential or a setting of a channel has changed
 * meanwhile, its results say nothing about the new ones, and are dropped.
 *
 * @param isTest the sends were a user's tests; the refusal of one alone makes its channel failing
 */
export async function recordHealth(
  { secrets, clock }: Pick<Services, 'secrets' | 'clock'>,
  trx: Trx,
  sent: readonly { readonly channel: Channel; readonly send: Reading }[],
  isTest = false,
): Promise<void> {
  if (sent.length === 0) return
  const ids = sent.map(({ channel }) => channel.id)
  const locked = await trx
    .selectFrom('alertChannels')
    .selectAll()
    .where('id', 'in', ids)
    .orderBy('id')
    .forUpdate()
    .execute()
  const now = clock.now()
  const states = locked.map((row): HealthState & Pick<ChannelRow, 'id'> => {
    const current = channelOf(row, secrets)
    const own = sent.filter(
      ({ channel }) =>
        channel.id === row.id &&
        channel.secret === current.secret &&
        JSON.stringify(channel.settings) === row.settings,
    )
    let health: HealthState = current
    for (const { send } of own) health = healthAfter(health, send, isTest, now)
    return { ...health, id: row.id }
  })
  await run(
    trx,
    STORE,
    columnsOf(states, 'id', 'health', 'lastSuccessAt', 'lastFailureAt', 'lastError', 'consecutiveFailures'),
  )
}
