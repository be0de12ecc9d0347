import { z } from 'zod'
import type { Context } from '../api/context.ts'
import type { Finds } from '../api/contract.ts'
import { DomainError, foundById, notFound } from '../api/errors.ts'
import { gathering } from '../api/gathering.ts'
import type { Db } from '../platform/db/index.ts'
import { type EndpointRow, endpointsCalled, findEndpoint } from './queries.ts'

/** Finds endpoints by id. Calls at the same time share one query. */
const findTogether = gathering<Pick<EndpointRow, 'workspaceId' | 'id'>, EndpointRow | undefined>(
  async (db, calls) => {
    const [{ workspaceId, id }] = calls
    const endpoint = await findEndpoint(db, workspaceId, id)
    return calls.map(() => endpoint)
  },
)

/**
 * Finds the endpoint that `{endpointId}` names, for every route below `/endpoints/{endpointId}`.
 * @throws DomainError `not_found` for an absent, deleted, foreign or malformed id alike
 */
export const findsEndpoint: Finds<{ endpoint: EndpointRow }> = async (ctx, ids) => {
  return { endpoint: await foundById(ids.endpointId, 'endpoint', (id) => findIn(ctx, id)) }
}

/**
 * Finds the endpoint that a body or query names, or the only one that the caller can see. The schema refuses a
 * malformed or missing id.
 * @throws DomainError `not_found` for a well-formed id that is not one of the workspace
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

/** An operator's reference to an endpoint: its id or name. */
export const EndpointReference = z.string().min(1).max(100)

/**
 * The id of an endpoint by an operator's reference. An id is preferred, then the exact name, then the name without
 * case.
 *
 * @throws DomainError `not_found`, also if several endpoints have the name
 */
export async function endpointIdOf(db: Db, workspaceId: string, reference: string): Promise<string> {
  const called = await endpointsCalled(db, workspaceId, reference)
  const ways = [
    called.filter(({ id }) => id === reference.toLowerCase()),
    called.filter(({ name }) => name === reference),
    called,
  ]
  const [found, ...others] = ways.find((fitting) => fitting.length > 0) ?? []
  if (found === undefined) {
    throw new DomainError('not_found', `The workspace has no endpoint with the id or name "${reference}".`)
  }
  if (others.length > 0) {
    const ids = [found, ...others].map(({ id }) => id).join(', ')
    throw new DomainError('not_found', `Several endpoints are named "${reference}". Give an id: ${ids}.`)
  }
  return found.id
}
