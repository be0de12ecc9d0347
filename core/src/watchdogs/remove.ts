import { closeIncidentsSilently } from '../alerts/index.ts'
import type { Context } from '../api/context.ts'
import { recordChange } from '../audit/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { lockWorkspace } from '../workspaces/index.ts'
import { watchdogChange } from './create.ts'
import { applyWatchdogLimit } from './planPause.ts'
import { deleteWatchdog, type WatchdogRow } from './queries.ts'

/**
 * Deletes a watchdog. Its open incident is closed without a recovery; a watchdog that was paused by plan may resume.
 */
export async function removeWatchdog(ctx: Context, watchdog: WatchdogRow): Promise<void> {
  await ctx.db.transaction().execute(async (trx) => {
    await lockWorkspace(trx, ctx.workspace.id)
    await deleteWatchdog(trx, watchdog)
    await closeIncidentsSilently(ctx, trx, { kind: 'watchdog.alarmed', subjectIds: [watchdog.id] })
    await applyWatchdogLimit(ctx, trx, { workspaceId: ctx.workspace.id, plan: ctx.plan })
    await announceEndpointChange(trx, watchdog.endpointId)
    await recordChange(trx, ctx, watchdogChange('watchdogs.remove', watchdog, null))
  })
}
