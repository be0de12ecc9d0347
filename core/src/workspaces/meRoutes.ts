import { z } from 'zod'
import { withExample } from '../api/examples.ts'
import { route, router } from '../api/route.ts'
import { Timestamp } from '../api/values.ts'
import { KEY_SCOPES } from '../engine/words/index.ts'
import { LIMIT_MEANINGS, limitsOf } from '../plans/index.ts'

const limits = z.object(limitsOf((name) => z.int().meta({ description: LIMIT_MEANINGS[name] })))

const Me = withExample(
  'Me',
  z.object({
    key: z.object({
      prefix: z.string().meta({ description: 'The first characters of the key, safe to display' }),
      name: z.string().meta({ description: 'As given when the key was created' }),
      scope: z.enum(KEY_SCOPES).meta({ description: 'Scope of the key' }),
      endpointId: z
        .uuid()
        .nullable()
        .meta({ description: 'The endpoint that the key is limited to; null: none' }),
      expiresAt: Timestamp.nullable().meta({ description: 'When it stops working; null: never' }),
    }),
    workspace: z.object({ name: z.string() }),
    plan: z.object({ key: z.string(), displayName: z.string() }),
    limits: limits.meta({ id: 'PlanLimits' }),
  }),
)

export const meRoutes = router({
  get: route({
    method: 'GET',
    path: '/api/v1/me',
    summary: 'Read the key of this call, its workspace, the plan and its limits',
    input: z.object({}),
    output: Me,
    narrows: true,
  }).query(({ ctx }) => ({
    key: {
      prefix: ctx.key?.prefix ?? '',
      name: ctx.key?.name ?? 'Console',
      scope: ctx.scope,
      endpointId: ctx.onlyEndpointId,
      expiresAt: ctx.key?.expiresAt ?? null,
    },
    workspace: { name: ctx.workspace.name },
    plan: { key: ctx.plan.key, displayName: ctx.plan.displayName },
    limits: ctx.plan.limits,
  })),
})
