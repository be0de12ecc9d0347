import { z } from 'zod'
import { route, router } from '../api/route.ts'
import type { LimitName } from '../plans/index.ts'

const limit = (description: string) => z.int().meta({ description })

const limits = z.object({
  apiRatePerMinute: limit('API calls of this key in a minute'),
  apiKeysMax: limit('Active keys of the workspace'),
  endpointsMax: limit('Endpoints of the workspace'),
  retentionDays: limit('Days for which a captured request is kept'),
  captureRatePerMinute: limit('Captures of an endpoint in a minute'),
  storedRequestsMax: limit('Stored requests of an endpoint; beyond it the oldest are evicted'),
  payloadBytesMax: limit('Body of a capture; of a longer one only a prefix is kept'),
  actionsMax: limit('Actions of an endpoint'),
  rulesMax: limit('Transformation rules of a destination; 0: not in the plan'),
  watchdogsMax: limit('Watchdogs of the workspace'),
  alertChannelsMax: limit('Alert channels of the workspace; 0: not in the plan'),
  parallelAwaitsMax: limit('Awaits of this key that run at once'),
  bulkReplay: limit('1 when bulk replay is in the plan, else 0'),
} satisfies Record<LimitName, z.ZodInt>)

const Me = z
  .object({
    key: z.object({
      prefix: z.string().meta({ description: 'The first characters of the key, safe to display' }),
      name: z.string().meta({ description: 'As given when the key was created' }),
    }),
    workspace: z.object({ name: z.string() }),
    plan: z.object({ key: z.string(), displayName: z.string() }),
    limits: limits.meta({ id: 'PlanLimits' }),
  })
  .meta({ id: 'Me' })

/** Read who calls, in which workspace, under which limits. */
export const meRoutes = router({
  get: route({
    method: 'GET',
    path: '/api/v1/me',
    summary: 'Who am I: the key, its workspace, the plan and its limits',
    input: z.object({}),
    output: Me,
  }).query(({ ctx }) => ({
    key: { prefix: ctx.key?.prefix ?? '', name: ctx.key?.name ?? 'Console' },
    workspace: { name: ctx.workspace.name },
    plan: { key: ctx.plan.key, displayName: ctx.plan.displayName },
    limits: ctx.plan.limits,
  })),
})
