import { z } from 'zod'
import { withExample } from '../api/examples.ts'
import { route, router } from '../api/route.ts'
import { Timestamp } from '../api/values.ts'
import { KEY_SCOPES } from '../engine/words/index.ts'
import { LIMIT_MEANINGS, type LimitName } from '../plans/index.ts'

const limit = (name: LimitName) => z.int().meta({ description: LIMIT_MEANINGS[name] })

const limits = z.object({
  apiRatePerMinute: limit('apiRatePerMinute'),
  apiKeysMax: limit('apiKeysMax'),
  endpointsMax: limit('endpointsMax'),
  retentionDays: limit('retentionDays'),
  captureRatePerMinute: limit('captureRatePerMinute'),
  captureBytesPerMinute: limit('captureBytesPerMinute'),
  storedRequestsMax: limit('storedRequestsMax'),
  storedBytesMax: limit('storedBytesMax'),
  payloadBytesMax: limit('payloadBytesMax'),
  actionsMax: limit('actionsMax'),
  rulesMax: limit('rulesMax'),
  watchdogsMax: limit('watchdogsMax'),
  alertChannelsMax: limit('alertChannelsMax'),
  parallelAwaitsMax: limit('parallelAwaitsMax'),
  bulkReplay: limit('bulkReplay'),
  eventSubscriptionsMax: limit('eventSubscriptionsMax'),
  eventsPerMinuteMax: limit('eventsPerMinuteMax'),
} satisfies Record<LimitName, z.ZodInt>)

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
  {
    key: {
      prefix: 'creel_live_f3Kq9Z',
      name: 'ci',
      scope: 'write',
      endpointId: null,
      expiresAt: '2027-01-01T00:00:00.000Z',
    },
    workspace: { name: 'Acme' },
    plan: { key: 'team', displayName: 'Team' },
    limits: {
      apiRatePerMinute: 1200,
      apiKeysMax: 50,
      endpointsMax: 10_000,
      retentionDays: 90,
      captureRatePerMinute: 60_000,
      captureBytesPerMinute: 1_649_267_441_664,
      storedRequestsMax: 1_000_000,
      storedBytesMax: 1_099_511_627_776,
      payloadBytesMax: 26_214_400,
      actionsMax: 25,
      rulesMax: 25,
      watchdogsMax: 100,
      alertChannelsMax: 50,
      parallelAwaitsMax: 50,
      bulkReplay: 1,
      eventSubscriptionsMax: 500,
      eventsPerMinuteMax: 300,
    },
  },
)

/** Read the caller, its workspace and its limits. */
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
