import { z } from 'zod'
import { notFound } from '../api/errors.ts'
import { route, router } from '../api/route.ts'
import { Int64 } from '../api/values.ts'
import { checkResponses, createInput, findsEndpoint } from '../endpoints/index.ts'
import { findRequest } from '../requests/index.ts'
import { previewAnswer } from './preview.ts'

/** Try scripted answers on a stored request; nothing is saved, counted or sent. */
export const answerRoutes = router({
  previewResponses: route({
    method: 'POST',
    path: '/api/v1/endpoints/{endpointId}/responses/preview',
    summary: 'Show which scripted response would answer a captured request',
    description: 'Counts are left out: a response with `times` counts as if it had some left.',
    input: z.object({
      endpointId: z.string().meta({ format: 'uuid', description: 'Id of the endpoint' }),
      requestId: Int64.meta({ description: 'Id of the captured request that is tried' }),
      responses: createInput.shape.responses.meta({ description: 'By default those of the endpoint' }),
    }),
    example: { requestId: 90117, responses: [{ status: 500, times: 2 }] },
    output: z
      .object({
        index: z.int().nullable().meta({ description: 'Index of the response; null: none of them answers' }),
        status: z.int(),
        contentType: z.string().nullable(),
        headers: z.array(z.object({ name: z.string(), value: z.string() })),
        body: z.string(),
        note: z.string().nullable().meta({ description: 'Why the response that matches does not answer' }),
      })
      .meta({ id: 'ResponsePreview' }),
    scope: 'read',
    errors: ['not_found'],
    finds: findsEndpoint,
    check: (_ctx, { responses }) => checkResponses(responses),
  }).mutation(async ({ ctx, input }) => {
    const row = await findRequest(ctx, ctx.endpoint.id, input.requestId)
    if (row === undefined) throw notFound('request')
    return await previewAnswer(ctx, ctx.endpoint, row, input.responses)
  }),
})
