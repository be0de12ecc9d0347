import type { z } from 'zod'
import { type Channel, destinationOf, isConnected } from './channel.ts'
import type { AlertChannel } from './schema.ts'

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
