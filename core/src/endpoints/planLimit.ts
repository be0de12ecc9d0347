import { sql } from 'kysely'
import type { Services } from '../api/services.ts'
import { recordSuspensions, type Suspension } from '../audit/index.ts'
import type { Plan } from '../plans/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import type { Trx } from '../platform/db/index.ts'

/**
 * Suspends the endpoints over the plan's limit and lifts the suspension of the others. The oldest stay in use. Expired
 * endpoints do not count. The caller holds the lock of the workspace's row.
 */
export async function applyEndpointLimit(
  services: Pick<Services, 'clock' | 'actor'>,
  trx: Trx,
  { workspaceId, plan }: { workspaceId: string; plan: Plan },
): Promise<void> {
  const { rows } = await sql<Suspension>`
    update endpoints e set suspended_by_plan = ranked.is_over
    from (
      select id, row_number() over (order by created_at, id) > ${plan.limits.endpointsMax} as is_over
      from endpoints
      where workspace_id = ${workspaceId} and deleted_at is null
        and (expires_at is null or expires_at > ${services.clock.now()})
    ) as ranked
    where e.id = ranked.id and e.suspended_by_plan <> ranked.is_over
    returning e.id, e.name, e.id as endpoint_id, e.suspended_by_plan`.execute(trx)
  await recordSuspensions(trx, services, workspaceId, 'endpoint', rows)
  for (const { id } of rows) await announceEndpointChange(trx, id)
}
