import { z } from 'zod'
import type { Context } from '../api/context.ts'
import type { Finds } from '../api/contract.ts'
import { notFound } from '../api/errors.ts'
import { gathering } from '../api/gathering.ts'
import { type EndpointRow, findEndpoint } from './queries.ts'

interface NamedEndpoint {
  readonly workspaceId: string
  readonly id: string
}

/** Calls that name the same endpoint at the same time share the look. */
const findTogether = gathering<NamedEndpoint, EndpointRow | undefined>(async (db, calls) => {
  const [{ workspaceId, id }] = calls
  const endpoint = await findEndpoint(db, workspaceId, id)
  return calls.map(() => endpoint)
})

/**
 * Finds the endpoint that `{endpointId}` names, for every route below `/endpoints/{endpointId}`.
 * @throws DomainError `not_found` for an absent, deleted, foreign or malformed id alike
 */
export const findsEndpoint: Finds<{ endpoint: EndpointRow }> = async (ctx, ids) => {
  const id = z.guid().safeParse(ids.endpointId)
  const endpoint = id.success ? await findIn(ctx, id.data) : undefined
  if (endpoint === undefined) throw notFound('endpoint')
  return { endpoint }
}

/**
 * Finds the endpoint that a body or query names, or the only one that the caller can see. One that is malformed or missing is
 * the schema's to refuse.
 * @throws DomainError `not_found` for a well-formed id that is none of the workspace's
 */
export const findsNamedEndpoint: Finds<{ namedEndpoint: EndpointRow | undefined }> = async (ctx, ids) => {
  const id = z.guid().safeParse(ids.endpointId ?? ctx.onlyEndpointId)
  if (!id.success) return { namedEndpoint: undefined }
  const namedEndpoint = await findIn(ctx, id.data)
  if (namedEndpoint === undefined) throw notFound('endpoint')
  return { namedEndpoint }
}

function findIn({ db, workspace }: Pick<Context, 'db' | 'workspace'>, id: string) {
  return findTogether(db, `${workspace.id} ${id}`, { workspaceId: workspace.id, id })
}

/** The endpoint that {@link findsNamedEndpoint} found for an input that the schema accepted. */
export function namedEndpointOf({ namedEndpoint }: { namedEndpoint: EndpointRow | undefined }): EndpointRow {
  if (namedEndpoint === undefined) throw notFound('endpoint')
  return namedEndpoint
}
