import type { Services } from '../api/services.ts'
import { recordSuspensions } from '../audit/index.ts'
import type { Plan } from '../plans/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { listOutages, lockWatchdogsOfWorkspace } from './queries.ts'
import { setPaused } from './rules.ts'
import { stepWatchdog } from './settle.ts'
import type { TellServices } from './tell.ts'

/**
 * Pauses the watchdogs over the plan's limit and resumes those within it; the oldest stay active. The caller locks the
 * workspace's row.
 */
export async function applyWatchdogLimit(
  services: TellServices & Pick<Services, 'actor'>,
  trx: Trx,
  { workspaceId, plan }: { workspaceId: string; plan: Plan },
): Promise<void> {
  const now = services.clock.now()
  const rows = await lockWatchdogsOfWorkspace(trx, workspaceId, now)
  const outages = await listOutages(trx)
  for (const [rank, row] of rows.entries()) {
    const pausedByPlan = rank >= plan.limits.watchdogsMax
    if (pausedByPlan === row.pausedByPlan) continue
    const change = {
      step: (clock: Parameters<typeof setPaused>[0]) => setPaused(clock, { pausedByPlan }, now),
    }
    await stepWatchdog(services, trx, { row, change, outages })
    await announceEndpointChange(trx, row.endpointId)
    await recordSuspensions(trx, services, workspaceId, 'watchdog', [
      { id: row.id, name: row.name, endpointId: row.endpointId, suspendedByPlan: pausedByPlan },
    ])
  }
}
