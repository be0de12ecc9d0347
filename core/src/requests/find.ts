import type { Context } from '../api/context.ts'
import { notFound } from '../api/errors.ts'
import { parseInt64 } from '../api/int64.ts'
import type { Finds } from '../api/route.ts'
import { type EndpointRow, findsEndpoint } from '../endpoints/index.ts'
import { findRequest, type RequestRow } from './queries.ts'
import { deliveriesOfRequest } from './requestDeliveries.ts'
import { detailView } from './view.ts'

/**
 * Finds the endpoint and the request that the path names.
 * @throws DomainError `not_found`, also when the request is in the recycle bin
 */
export const findsRequest: Finds<{ endpoint: EndpointRow; request: RequestRow }> = async (ctx, ids) => {
  const { endpoint } = await findsEndpoint(ctx, ids)
  const id = parseInt64(ids.requestId)
  const request = id === null ? undefined : await findRequest(ctx.db, endpoint.id, id)
  if (request === undefined) throw notFound('request')
  return { endpoint, request }
}

/** The public view of a request that was found. */
export async function requestView(
  ctx: Pick<Context, 'db' | 'urls'>,
  endpointId: string,
  request: RequestRow,
) {
  const deliveries = await deliveriesOfRequest(ctx.db, endpointId, request.id)
  return detailView(request, { endpointId, urls: ctx.urls, deliveries })
}
