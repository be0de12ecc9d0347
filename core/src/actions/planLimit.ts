import { sql } from 'kysely'
import type { Trx } from '../db/index.ts'
import { resumeDeliveries } from '../deliveries/index.ts'
import { announceEndpointChange } from '../endpoints/index.ts'
import type { Plan } from '../plans/index.ts'
import type { Services } from '../services.ts'

/**
 * Suspends the actions over the plan's limit and lifts the suspension of those within: of each endpoint the oldest
 * stay in use, at the position that they have (CONTRACT §1 "Downgrade", R12). Queued deliveries of an action that
 * comes back go on. The caller holds the workspace's row.
 *
 * @param of `endpointId`: only this endpoint's
 */
export async function applyActionLimits(
  services: Pick<Services, 'clock' | 'enqueue'>,
  trx: Trx,
  of: { readonly workspaceId: string; readonly plan: Plan; readonly endpointId?: string },
): Promise<void> {
  const onlyEndpoint = of.endpointId === undefined ? sql`true` : sql`endpoint_id = ${of.endpointId}`
  const { rows } = await sql<{ id: string; endpointId: string; isOn: boolean }>`
    update actions a set
      suspended_by_plan = ranked.is_over,
      -- Off since then, unless a person had switched it off before.
      off_since = case
        when not a.is_active then a.off_since
        when ranked.is_over then ${services.clock.now()}::timestamptz
      end
    from (
      select id,
        row_number() over (partition by endpoint_id order by created_at, id) > ${of.plan.limits.actionsMax} as is_over
      from actions
      where workspace_id = ${of.workspaceId} and ${onlyEndpoint}
    ) as ranked
    where a.id = ranked.id and a.suspended_by_plan <> ranked.is_over
    returning a.id, a.endpoint_id, a.is_active and not a.suspended_by_plan as is_on`.execute(trx)
  const backOn = rows.filter((row) => row.isOn).map((row) => row.id)
  await resumeDeliveries(services, trx, backOn)
  for (const endpointId of new Set(rows.map((row) => row.endpointId))) {
    await announceEndpointChange(trx, endpointId)
  }
}
