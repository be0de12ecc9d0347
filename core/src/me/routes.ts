import { z } from 'zod'
import { LIMIT_NAMES } from '../plans/index.ts'
import { route, router } from '../route.ts'

const Me = z
  .object({
    key: z.object({ prefix: z.string(), name: z.string() }),
    workspace: z.object({ name: z.string() }),
    plan: z.object({ key: z.string(), displayName: z.string() }),
    limits: z.record(z.enum(LIMIT_NAMES), z.int()),
  })
  .meta({ id: 'Me' })

export const meRoutes = router({
  get: route({
    method: 'GET',
    path: '/api/v1/me',
    summary: 'Who am I: the key, its workspace, the plan and its limits',
    input: z.object({}),
    output: Me,
  }).query(({ ctx }) => ({
    key: { prefix: ctx.key.prefix, name: ctx.key.name },
    workspace: { name: ctx.workspace.name },
    plan: { key: ctx.plan.key, displayName: ctx.plan.displayName },
    limits: ctx.plan.limits,
  })),
})
