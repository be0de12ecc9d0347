import { z } from 'zod'
import type { Context } from '../api/context.ts'
import type { Finds } from '../api/contract.ts'
import { notFound, shredded } from '../api/errors.ts'
import { parseInt64 } from '../api/values.ts'
import { type EndpointRow, findsEndpoint } from '../endpoints/index.ts'
import { isShredded } from '../platform/secrets/index.ts'
import { countLong } from './longReads.ts'
import { hasOriginal, originalUntil } from './originals.ts'
import type { RequestRow } from './queries.ts'
import { endpointOfRequest, findRequest, type ReadRequest, readRequest } from './reads.ts'
import { outcomeOf } from './state.ts'
import { deliveriesOfRequest, detailView } from './view.ts'

/** Whether a text has the form of an endpoint's id. */
export function isUuid(text: string): boolean {
  return z.guid().safeParse(text).success
}

/**
 * Finds the endpoint and the request that the path names.
 * @throws DomainError `not_found`, also when the request is in the recycle bin
 */
export const findsRequest: Finds<{ endpoint: EndpointRow; request: RequestRow }> = async (ctx, ids) => {
  const { endpoint } = await findsEndpoint(ctx, ids)
  const id = parseInt64(ids.requestId)
  const request = id === null ? undefined : await findRequest(ctx, endpoint.id, id)
  if (request === undefined) throw notFound('request')
  return { endpoint, request }
}

/**
 * Finds a request of an endpoint, for calls that need its content.
 *
 * @throws DomainError `not_found`; `shredded` when the key of its content is gone
 */
export async function findContent(
  ctx: Parameters<typeof findRequest>[0],
  endpointId: string,
  requestId: number,
): Promise<RequestRow> {
  const request = await findRequest(ctx, endpointId, requestId)
  if (request === undefined) throw notFound('request')
  if (isShredded(request)) throw shredded()
  return request
}

/**
 * Finds the endpoint of the request that a path names by its id alone.
 *
 * @throws DomainError `not_found` when the caller sees no such request
 */
export const findsEndpointOfRequest: Finds<{ endpointId: string }> = async (ctx, ids) => {
  const id = parseInt64(ids.requestId)
  const { onlyEndpointId } = ctx
  const endpointId =
    id === null ? undefined : await endpointOfRequest(ctx.db, ctx.workspace.id, { id, onlyEndpointId })
  if (endpointId === undefined) throw notFound('request')
  return { endpointId }
}

/** The API's view of a request, with the state of its deliveries. */
export async function requestView(ctx: Pick<Context, 'db' | 'urls' | 'clock'>, request: ReadRequest) {
  const endpoint = { id: request.endpointId, captureId: request.captureId }
  // A request without attempts that is not Pending has no deliveries, and saves the query.
  const { attemptCount, state } = outcomeOf(request)
  const hasDeliveries = attemptCount > 0 || state === 'Pending'
  const deliveries = hasDeliveries ? await deliveriesOfRequest(ctx.db, endpoint.id, request.id) : []
  const until = hasOriginal(request.redaction) ? await originalUntil(ctx, endpoint.id, request.id) : null
  return detailView(request, { endpoint, urls: ctx.urls, deliveries, originalUntil: until })
}

/**
 * Reads the request that a call names. The same statement finds its endpoint.
 * @throws DomainError `not_found` for either, `request_invalid` when a batch asks for too many long bodies
 */
export async function requestOf(
  ctx: Pick<Context, 'db' | 'workspace' | 'signal' | 'longBodies'>,
  {
    endpointId,
    requestId,
    bodyBytesMax = Number.MAX_SAFE_INTEGER,
  }: { readonly endpointId: string; readonly requestId: number; readonly bodyBytesMax?: number | undefined },
): Promise<ReadRequest> {
  const onLong = (bytes: number) => countLong(ctx, bytes)
  const request = isUuid(endpointId)
    ? await readRequest(ctx.db, ctx.workspace.id, endpointId, {
        id: requestId,
        bodyBytesMax,
        onLong,
        signal: ctx.signal,
      })
    : undefined
  if (request === undefined) throw notFound('endpoint')
  if (request === null) throw notFound('request')
  return request
}
