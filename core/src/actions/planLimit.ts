import type { Services } from '../api/services.ts'
import { resumeDeliveries } from '../deliveries/index.ts'
import type { Plan } from '../plans/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { fitActions } from './queries.ts'

/**
 * Makes the suspensions of a workspace's actions what its plan says. Queued deliveries of an action that comes back
 * go on. The caller holds the workspace's row.
 */
export async function applyActionLimits(
  services: Pick<Services, 'clock' | 'enqueue' | 'actor'>,
  trx: Trx,
  { workspaceId, plan }: { readonly workspaceId: string; readonly plan: Plan },
): Promise<void> {
  const resumed = await fitActions(trx, services, { workspaceId }, plan.limits.actionsMax)
  await resumeDeliveries(services, trx, resumed)
}
