import { z } from 'zod'
import { notFound } from '../errors.ts'
import type { Finds } from '../route.ts'
import { type EndpointRow, findEndpoint } from './queries.ts'

/**
 * Finds the endpoint that `{endpointId}` names, for every route below `/endpoints/{endpointId}`.
 * @throws DomainError `not_found` for an absent, deleted, foreign or malformed id alike
 */
export const findsEndpoint: Finds<{ endpoint: EndpointRow }> = async (ctx, ids) => {
  const id = z.guid().safeParse(ids.endpointId)
  const endpoint = id.success ? await findEndpoint(ctx.db, ctx.workspace.id, id.data) : undefined
  if (endpoint === undefined) throw notFound('endpoint')
  return { endpoint }
}
