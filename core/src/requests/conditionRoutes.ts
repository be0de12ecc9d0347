import { z } from 'zod'
import { route, router } from '../api/route.ts'
import { Int64 } from '../api/values.ts'
import { findsEndpoint } from '../endpoints/index.ts'
import { ConditionDocument } from '../engine/conditions/index.ts'
import { readCondition, tryCondition } from './tryCondition.ts'

const LAST_MAX = 500

const part = (words: string) =>
  z.object({ count: z.int(), firstIds: z.array(Int64).max(20) }).meta({ description: words })

const ConditionPreview = z
  .object({
    testedCount: z
      .int()
      .meta({ description: 'Fewer than asked for where fewer are stored, or they are large' }),
    matched: part('The newest first'),
    notMatched: part('The newest first'),
    note: z.string().nullable().meta({ description: 'Lists the paths that none of these requests have' }),
  })
  .meta({ id: 'ConditionPreview' })

/** Try a condition on stored requests; nothing is saved. */
export const conditionRoutes = router({
  try: route({
    method: 'POST',
    path: '/api/v1/endpoints/{endpointId}/conditions/preview',
    summary: 'Test a condition on the newest stored requests',
    input: z.object({
      endpointId: z.string().meta({ format: 'uuid', description: 'Id of the endpoint' }),
      condition: ConditionDocument.meta({ description: 'Condition, as in an action, a rule or a watchdog' }),
      last: z
        .int()
        .min(1)
        .max(LAST_MAX)
        .default(LAST_MAX)
        .meta({ description: 'Number of requests to test' }),
    }),
    example: {
      condition: { all: [{ path: 'body.type', op: 'startsWith', value: 'invoice.' }] },
      last: 100,
    },
    output: ConditionPreview,
    scope: 'read',
    finds: findsEndpoint,
    check: (ctx, { condition }) => {
      if (condition === undefined) return []
      const parsed = readCondition(ctx.rawBody, condition)
      return 'issues' in parsed ? parsed.issues : []
    },
  }).mutation(({ ctx, input }) => tryCondition(ctx, ctx.endpoint.id, input)),
})
