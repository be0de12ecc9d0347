import type { Context } from '../api/context.ts'
import { answerScript, renderedInSteps, responsesForInSteps } from '../capture/index.ts'
import { type EndpointRow, responsesText, type ScriptedResponses, safeResponse } from '../endpoints/index.ts'
import { requestRoot } from '../engine/conditions/index.ts'
import { inSlices } from '../platform/turns/index.ts'
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
    const [index] = script === null ? [] : await inSlices(responsesForInSteps(script, requestRoot(request)))
    const response = index === undefined ? undefined : script?.responses[index]
    const made =
      response &&
      (await inSlices(renderedInSteps(ctx.urls, response, { requestId: row.id, request, endpoint })))
    const isFaulty = made !== undefined && 'fault' in made
    const { status, contentType, headers, body } =
      made === undefined || isFaulty ? safeResponse(own) : made.served
    return {
      index: isFaulty ? null : (index ?? null),
      status,
      contentType,
      headers: headers.map(([name, value]) => ({ name, value: Buffer.from(value, 'latin1').toString() })),
      body,
      note: isFaulty ? made.fault : null,
    }
  })
}
