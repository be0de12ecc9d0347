import type { Context } from '../api/context.ts'
import { inOrder, rendered } from '../capture/index.ts'
import {
  type EndpointRow,
  preparedResponses,
  RESPONSE_LIMITS,
  responsesText,
  type ScriptedResponses,
  safeResponse,
} from '../endpoints/index.ts'
import { ConditionSet, requestRoot } from '../engine/conditions/index.ts'
import { previewing, type RequestRow, storedRequest } from '../requests/index.ts'

/**
 * Finds the response that would answer a stored request, and fills it in.
 *
 * @param responses default: those of the endpoint
 */
export async function previewAnswer(
  ctx: Context,
  endpoint: EndpointRow,
  row: RequestRow,
  responses: ScriptedResponses | undefined,
) {
  const own = { ...endpoint, responseHeaders: JSON.parse(endpoint.responseHeaders) }
  const text = responses === undefined ? endpoint.responses : responsesText(responses)
  return await previewing(ctx, 'answer', async () => {
    const prepared = preparedResponses(text, own)
    const request = storedRequest(row)
    const conditions = new ConditionSet(prepared.map(({ condition }, item) => ({ condition, item })))
    const [index] = inOrder(conditions.holding(requestRoot(request)))
    const response = index === undefined ? undefined : prepared[index]
    const answer = response && rendered(ctx.urls, response, { requestId: row.id, request, endpoint })
    const isTooLong = response !== undefined && answer === undefined
    const { status, contentType, headers, body } = answer ?? safeResponse(own)
    return {
      index: isTooLong ? null : (index ?? null),
      status,
      contentType,
      headers: headers.map(([name, value]) => ({ name, value: Buffer.from(value, 'latin1').toString() })),
      body,
      note: isTooLong ? `The body would be longer than ${RESPONSE_LIMITS.bodyBytes} bytes.` : null,
    }
  })
}
