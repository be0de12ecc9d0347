import type { Change } from '../audit/index.ts'
import type { Channel } from './channel.ts'
import { channelView } from './view.ts'

/** What the audit log tells of a change of a channel: its settings, not how its sends went. */
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
