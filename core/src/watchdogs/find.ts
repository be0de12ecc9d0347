import { z } from 'zod'
import { type EndpointRow, findEndpoint } from '../endpoints/index.ts'
import { notFound } from '../errors.ts'
import type { Finds } from '../route.ts'
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
  if (watchdog === undefined) throw notFound('watchdog')
  return { watchdog }
}

/**
 * Finds the endpoint that a body or query names. One that is malformed or missing is the schema's to refuse
 * (CONTRACT §0.5, R6).
 * @throws DomainError `not_found` for a well-formed id that is none of the workspace's
 */
export const findsNamedEndpoint: Finds<{ namedEndpoint: EndpointRow | undefined }> = async (ctx, ids) => {
  const id = z.guid().safeParse(ids.endpointId)
  if (!id.success) return { namedEndpoint: undefined }
  const namedEndpoint = await findEndpoint(ctx.db, ctx.workspace.id, id.data)
  if (namedEndpoint === undefined) throw notFound('endpoint')
  return { namedEndpoint }
}

/** The endpoint that {@link findsNamedEndpoint} found for an input that the schema accepted. */
export function endpointOf({ namedEndpoint }: { namedEndpoint: EndpointRow | undefined }): EndpointRow {
  if (namedEndpoint === undefined) throw notFound('endpoint')
  return namedEndpoint
}
