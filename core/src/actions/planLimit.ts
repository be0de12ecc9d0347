import type { Services } from '../api/services.ts'
import { resumeDeliveries } from '../deliveries/index.ts'
import type { Plan } from '../plans/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { fitActions } from './queries.ts'

/**
 * Applies the plan's limit to a workspace: suspends actions over it and lifts the suspension of others. Queued
 * deliveries of actions in use again continue. The caller holds the lock of the workspace's row.
 */
export async function applyActionLimits(
  services: Pick<Services, 'clock' | 'enqueue' | 'actor'>,
  trx: Trx,
  { workspaceId, plan }: { readonly workspaceId: string; readonly plan: Plan },
): Promise<void> {
  const resumed = await fitActions(trx, services, { workspaceId }, plan.limits.actionsMax)
  await resumeDeliveries(services, trx, resumed)
}
