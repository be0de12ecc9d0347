import { route, router } from '../api/route.ts'
import { checkStoring, findsEndpoint } from '../endpoints/index.ts'
import { issuesOfSource } from '../transformations/index.ts'
import { previewStoring } from './preview.ts'
import { previewInput, StoringPreview } from './schema.ts'

/** Preview of what an endpoint takes out of its captures; in the API it is among the routes of `endpoints`. */
export const storeRuleRoutes = router({
  previewStoring: route({
    method: 'POST',
    path: '/api/v1/endpoints/{endpointId}/store-rules/preview',
    summary: 'Try what would be stored of a sample or a stored request',
    description:
      'Nothing is saved; a rule that faults is a 200. `warnings` names what reads a value that is taken out.',
    input: previewInput,
    scope: 'read',
    example: {
      storeRules: [{ op: 'redact', paths: ['body.email'] }],
      sample: { body: { email: 'ada@example.com' } },
    },
    output: StoringPreview,
    finds: findsEndpoint,
    check: (_ctx, input) => [...checkStoring(input), ...issuesOfSource(input, true)],
  }).mutation(({ ctx, input }) => previewStoring(ctx, ctx.endpoint, input)),
})
