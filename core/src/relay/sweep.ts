import type { Services } from '../api/services.ts'
import { markEndpointDeleted } from '../endpoints/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { deleteWorkspaces } from '../workspaces/index.ts'
import { RELAY_IDLE_MS, RELAY_RATE_MS } from './limits.ts'
import { findEmptyWorkspaces, findIdle, forgetEnded } from './statements.ts'

/**
 * Ends the idle endpoints of a relay, and deletes the workspaces of those that are purged. The sweep of endpoints
 * purges the rest. A no-op where no relay ran.
 */
export async function sweepRelay({ db, clock }: Pick<Services, 'db' | 'clock'>): Promise<void> {
  const now = clock.now()
  for (const endpointId of await findIdle(db, now, new Date(now.getTime() - RELAY_IDLE_MS))) {
    await db.transaction().execute(async (trx) => {
      await markEndpointDeleted(trx, endpointId, now)
      await announceEndpointChange(trx, endpointId)
    })
  }
  await db.transaction().execute(async (trx) => {
    await deleteWorkspaces(trx, await findEmptyWorkspaces(trx))
    await forgetEnded(trx, new Date(now.getTime() - RELAY_RATE_MS))
  })
}
