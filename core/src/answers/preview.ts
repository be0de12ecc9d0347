import type { Context } from '../api/context.ts'
import { answerScript, rendered, responsesFor, TOO_LONG } from '../capture/index.ts'
import { type EndpointRow, responsesText, type ScriptedResponses, safeResponse } from '../endpoints/index.ts'
import { requestRoot } from '../engine/conditions/index.ts'
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
    const stored = { responses: text, responsesRun: null, answerFrom: null }
    const script = answerScript(stored, own, [], () => false)
    const request = storedRequest(row)
    const [index] = script === null ? [] : responsesFor(script, requestRoot(request))
    const response = index === undefined ? undefined : script?.responses[index]
    const answer = response && rendered(ctx.urls, response, { requestId: row.id, request, endpoint })
    const isTooLong = response !== undefined && answer === undefined
    const { status, contentType, headers, body } = answer ?? safeResponse(own)
    return {
      index: isTooLong ? null : (index ?? null),
      status,
      contentType,
      headers: headers.map(([name, value]) => ({ name, value: Buffer.from(value, 'latin1').toString() })),
      body,
      note: isTooLong ? TOO_LONG : null,
    }
  })
}
