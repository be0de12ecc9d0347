import type { Urls } from '../api/services.ts'
import { captureUrlOf } from '../endpoints/index.ts'
import type { EvaluatedRequest } from '../engine/message/index.ts'

/** A capture that is delivered, and what delivers it. */
export interface Delivered {
  readonly requestId: number
  readonly request: Pick<EvaluatedRequest, 'path' | 'queryString' | 'receivedAt'>
  readonly endpoint: { readonly id: string; readonly name: string; readonly captureId: string }
  readonly action: { readonly id: string; readonly name: string }
}

/** What templates and rules may say of a delivery, by the names that they use. */
export function deliveryFacts(urls: Urls, { requestId, request, endpoint, action }: Delivered) {
  const query = request.queryString === null ? '' : `?${request.queryString}`
  return {
    'request.id': requestId,
    'request.url': `${captureUrlOf(urls, endpoint.captureId)}${request.path}${query}`,
    'request.receivedAt': request.receivedAt.toISOString(),
    'endpoint.id': endpoint.id,
    'endpoint.name': endpoint.name,
    'action.id': action.id,
    'action.name': action.name,
  }
}
