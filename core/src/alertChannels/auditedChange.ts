import type { Change } from '../audit/index.ts'
import type { Channel } from './channel.ts'
import { channelView } from './view.ts'

/** A channel's change for the audit log: its settings, without the results of sends. */
export function channelChange(action: string, before: Channel | null, after: Channel | null): Change {
  const { id = '', name = '', workspaceId = null } = after ?? before ?? {}
  return {
    action,
    workspaceId,
    subject: { type: 'alertChannel', id, name },
    before: before && settingsOf(before),
    after: after && settingsOf(after),
  }
}

function settingsOf(channel: Channel) {
  const { id, kind, name, enabled, credentialSet, credentialSetAt, settings, mutedUntil, events, createdAt } =
    channelView(channel)
  return { id, kind, name, enabled, credentialSet, credentialSetAt, settings, mutedUntil, events, createdAt }
}
