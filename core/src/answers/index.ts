import { z } from 'zod'
import type { Context } from '../api/context.ts'
import { post, router } from '../api/route.ts'
import { endpointId, Int64 } from '../api/values.ts'
import { answerScript, renderedInSteps, responsesForInSteps } from '../capture/index.ts'
import {
  asSpelled,
  checkResponses,
  createInput,
  type EndpointRow,
  findsEndpoint,
  responsesText,
  type ScriptedResponses,
  safeResponse,
} from '../endpoints/index.ts'
import { requestRoot } from '../engine/conditions/index.ts'
import { inSlices } from '../platform/turns/index.ts'
import { countLong, findContent, previewing, storedRequest } from '../requests/index.ts'

/** Try scripted answers on a stored request; nothing is saved, counted or sent. */
export const answerRoutes = router({
  previewResponses: post('/api/v1/endpoints/{endpointId}/responses/preview', {
    summary: 'Show which scripted response would answer a captured request',
    description: 'Counts are left out: a response with `times` counts as if it had some left.',
    tool: {
      name: 'preview_answer',
      title: 'Preview a scripted answer',
      description:
        'Shows which scripted response would answer a captured request, and its text; by default of the saved list, else of the given one. Nothing is saved, counted or sent.',
      effect: 'reads',
      quotesRequest: true,
    },
    input: z.object({
      endpointId,
      requestId: Int64.describe('Id of the captured request that is tried'),
      responses: createInput.shape.responses.describe('By default those of the endpoint'),
    }),
    example: { requestId: 90117, responses: [{ status: 500, times: 2 }] },
    output: z
      .object({
        index: z.int().nullable().describe('Index of the response; null: none of them answers'),
        status: z.int(),
        contentType: z.string().nullable(),
        headers: z.array(z.object({ name: z.string(), value: z.string() })),
        body: z.string(),
        note: z.string().nullable().describe('Why the response that matches does not answer'),
      })
      .meta({ id: 'ResponsePreview' }),
    scope: 'read',
    errors: ['not_found', 'shredded'],
    finds: findsEndpoint,
    check: ({ rawBody }, input) => checkResponses(asSpelled(rawBody, input).responses),
  }).mutation(({ ctx, input }) =>
    previewAnswer(ctx, ctx.endpoint, input.requestId, asSpelled(ctx.rawBody, input).responses),
  ),
})

/**
 * Finds the response that would answer a stored request, and fills it in.
 *
 * @param responses default: those of the endpoint
 * @throws DomainError `not_found` for a request that is not stored, `shredded`, `request_invalid` when a batch asks for
 *   too many long bodies; LineTooLong when earlier previews take too long
 */
async function previewAnswer(
  ctx: Context,
  endpoint: EndpointRow,
  requestId: number,
  responses: ScriptedResponses | undefined,
) {
  const own = { ...endpoint, responseHeaders: JSON.parse(endpoint.responseHeaders) }
  const text = responses === undefined ? endpoint.responses : responsesText(responses)
  return await previewing(ctx, 'answer', async () => {
    const row = await findContent(ctx, endpoint.id, requestId)
    countLong(ctx, row.body.length)
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
