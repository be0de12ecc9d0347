import type { Services } from '../api/services.ts'
import { recordSuspensions } from '../audit/index.ts'
import type { Plan } from '../plans/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { run, statement, type Trx } from '../platform/db/index.ts'

const FIT = statement(
  'fit endpoints to plan',
  `update endpoints e set suspended_by_plan = ranked.is_over
  from (
    select id, row_number() over (order by created_at, id) > $1 as is_over
    from endpoints
    where workspace_id = $2 and deleted_at is null
      and (expires_at is null or expires_at > $3)
  ) as ranked
  where e.id = ranked.id and e.suspended_by_plan <> ranked.is_over
  returning e.id, e.name, e.id as endpoint_id, e.suspended_by_plan`,
  { isPrepared: false },
)

/**
 * Suspends the endpoints over the plan's limit and lifts the suspension of the others. The oldest stay in use. Expired
 * endpoints do not count. The caller holds the lock of the workspace's row.
 */
export async function applyEndpointLimit(
  services: Pick<Services, 'clock' | 'actor'>,
  trx: Trx,
  { workspaceId, plan }: { workspaceId: string; plan: Plan },
): Promise<void> {
  const rows = await run(trx, FIT, [plan.limits.endpointsMax, workspaceId, services.clock.now()])
  await recordSuspensions(trx, services, workspaceId, 'endpoint', rows)
  for (const { id } of rows) await announceEndpointChange(trx, id)
}
