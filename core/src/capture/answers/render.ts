import type { Urls } from '../../api/services.ts'
import { type PreparedResponse, RESPONSE_LIMITS, type ServedResponse } from '../../endpoints/index.ts'
import { requestRoot } from '../../engine/conditions/index.ts'
import type { EvaluatedRequest } from '../../engine/message/index.ts'
import { renderInSteps } from '../../engine/templates/index.ts'
import { deliveryFacts } from '../../transformations/index.ts'

export interface Answered {
  readonly requestId: number
  readonly request: EvaluatedRequest
  readonly endpoint: { readonly id: string; readonly name: string; readonly captureId: string }
}

/** A response with its body filled in, or why it cannot answer. */
export type Rendered = { readonly served: ServedResponse } | { readonly fault: string }

const TOO_LONG: Rendered = { fault: `The body would be longer than ${RESPONSE_LIMITS.bodyBytes} bytes.` }

/** Fills in the body of a response, in pieces of which one may parse the body of the request. */
export function* renderedInSteps(
  urls: Urls,
  { served, template }: Pick<PreparedResponse, 'served' | 'template'>,
  { request, ...answered }: Answered,
): Generator<void, Rendered> {
  if (template === null) return { served }
  const facts = deliveryFacts(urls, { ...answered, request, action: { id: '', name: '' } })
  const escaped = escapeOf(served.contentType)
  const body = yield* renderInSteps(template, requestRoot(request, facts), {
    enough: RESPONSE_LIMITS.bodyBytes,
    ...(escaped === undefined ? {} : { escape: escaped }),
  })
  return Buffer.byteLength(body) > RESPONSE_LIMITS.bodyBytes ? TOO_LONG : { served: { ...served, body } }
}

const XML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Keeps a value from ending the string or element of the answer that it is inserted in. */
function escapeOf(contentType: string | null): ((text: string, isString: boolean) => string) | undefined {
  if (contentType === null) return undefined
  if (/[/+]json\b/i.test(contentType))
    return (text, isString) => (isString ? JSON.stringify(text).slice(1, -1) : text)
  if (/[/+]xml\b/i.test(contentType))
    return (text) => text.replaceAll(/[&<>"']/g, (mark) => XML_ENTITIES[mark] ?? mark)
  return undefined
}
