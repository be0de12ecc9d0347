import type { Finds } from '../api/contract.ts'
import { foundById, notFound } from '../api/errors.ts'
import { findWatchdog, type WatchdogRow } from './queries.ts'

/**
 * Finds the watchdog that `{id}` names.
 * @throws DomainError `not_found` for an absent, foreign or malformed id alike, and when its endpoint is gone
 */
export const findsWatchdog: Finds<{ watchdog: WatchdogRow }> = async (ctx, ids) => {
  const { db, workspace, clock, onlyEndpointId } = ctx
  const watchdog = await foundById(ids.id, 'watchdog', (id) =>
    findWatchdog(db, workspace.id, id, clock.now()),
  )
  if (onlyEndpointId !== null && watchdog.endpointId !== onlyEndpointId) throw notFound('watchdog')
  return { watchdog }
}
