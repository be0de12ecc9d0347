import type { Urls } from '../api/services.ts'
import { requestUrlOf } from '../endpoints/index.ts'
import type { EvaluatedRequest } from '../engine/message/index.ts'

interface Delivered {
  readonly requestId: number
  readonly request: Pick<EvaluatedRequest, 'path' | 'queryString' | 'receivedAt'>
  readonly endpoint: { readonly id: string; readonly name: string; readonly captureId: string }
  readonly action: { readonly id: string; readonly name: string }
}

/** Facts of a delivery for templates and rules, by the names that these use. */
export function deliveryFacts(urls: Urls, { requestId, request, endpoint, action }: Delivered) {
  return {
    'request.id': requestId,
    'request.url': requestUrlOf(urls, endpoint.captureId, request),
    'request.receivedAt': request.receivedAt.toISOString(),
    'endpoint.id': endpoint.id,
    'endpoint.name': endpoint.name,
    'action.id': action.id,
    'action.name': action.name,
  }
}
