import { sql } from 'kysely'
import type { Clock } from '../api/services.ts'
import type { Plan } from '../plans/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import type { Trx } from '../platform/db/index.ts'

/**
 * Suspends the endpoints over the plan's limit and lifts the suspension of those within: the oldest stay in use. Expired ones take no place. The caller holds the workspace's row.
 */
export async function applyEndpointLimit(
  { clock }: { readonly clock: Clock },
  trx: Trx,
  { workspaceId, plan }: { workspaceId: string; plan: Plan },
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    update endpoints e set suspended_by_plan = ranked.is_over
    from (
      select id, row_number() over (order by created_at, id) > ${plan.limits.endpointsMax} as is_over
      from endpoints
      where workspace_id = ${workspaceId} and deleted_at is null
        and (expires_at is null or expires_at > ${clock.now()})
    ) as ranked
    where e.id = ranked.id and e.suspended_by_plan <> ranked.is_over
    returning e.id`.execute(trx)
  for (const { id } of rows) await announceEndpointChange(trx, id)
}
