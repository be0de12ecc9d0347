import type { Context } from '../api/context.ts'
import type { Change } from '../audit/index.ts'
import type { endpointView } from '../endpoints/index.ts'

type View = ReturnType<typeof endpointView>

/** The audit entry of a change of an endpoint: its settings without its counts. */
export function endpointChange(
  { workspace }: Pick<Context, 'workspace'>,
  action: string,
  before: View | null,
  after: View | null,
): Change {
  const { id = '', name = '' } = after ?? before ?? {}
  return {
    action,
    workspaceId: workspace.id,
    subject: { type: 'endpoint', id, name },
    endpointId: id,
    before: before && settingsOf(before),
    after: after && settingsOf(after),
  }
}

function settingsOf({
  lastRequestAt: _last,
  storedRequestCount: _count,
  expired: _expired,
  ...settings
}: View) {
  return settings
}
