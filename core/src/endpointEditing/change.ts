import type { Context } from '../api/context.ts'
import { notFound } from '../api/errors.ts'
import { type Change, recordChange } from '../audit/index.ts'
import { type EndpointRow, endpointView, findEndpoint } from '../endpoints/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import type { Trx } from '../platform/db/index.ts'

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

/** The endpoint, to be changed. @throws DomainError `not_found` when it was deleted meanwhile */
export async function endpointToChange(ctx: Context, trx: Trx, endpointId: string): Promise<EndpointRow> {
  const row = await findEndpoint(trx, ctx.workspace.id, endpointId)
  if (row === undefined) throw notFound('endpoint')
  return row
}

/** Announces and records a change that was written. @throws DomainError `not_found` when the endpoint was deleted meanwhile */
export async function noteChange(ctx: Context, trx: Trx, action: string, before: EndpointRow) {
  await announceEndpointChange(trx, before.id)
  const endpoint = await endpointToChange(ctx, trx, before.id)
  const view = endpointView(endpoint, ctx)
  await recordChange(trx, ctx, endpointChange(ctx, action, endpointView(before, ctx), view))
  return { endpoint, view }
}

function settingsOf({
  lastRequestAt: _last,
  storedRequestCount: _count,
  expired: _expired,
  ...settings
}: View) {
  return settings
}
