import { z } from 'zod'
import type { Finds } from '../api/contract.ts'
import { notFound } from '../api/errors.ts'
import { findWatchdog, type WatchdogRow } from './queries.ts'

/**
 * Finds the watchdog that `{id}` names.
 * @throws DomainError `not_found` for an absent, foreign or malformed id alike, and when its endpoint is gone
 */
export const findsWatchdog: Finds<{ watchdog: WatchdogRow }> = async (ctx, ids) => {
  const id = z.guid().safeParse(ids.id)
  const watchdog = id.success
    ? await findWatchdog(ctx.db, ctx.workspace.id, id.data, ctx.clock.now())
    : undefined
  const isSeen = ctx.onlyEndpointId === null || watchdog?.endpointId === ctx.onlyEndpointId
  if (watchdog === undefined || !isSeen) throw notFound('watchdog')
  return { watchdog }
}
