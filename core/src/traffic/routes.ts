import { z } from 'zod'
import { route, router } from '../api/route.ts'
import { InstantInput, optional, Timestamp } from '../api/values.ts'
import { findsEndpoint } from '../endpoints/index.ts'
import { searching } from '../requests/index.ts'
import { countTraffic, TRAFFIC_DAYS_MAX } from './queries.ts'
import { EndpointStats, endpointStats } from './stats.ts'

const HOUR_MS = 3_600_000
const BUCKETS_MAX = 120

const period = {
  from: optional(InstantInput).meta({ description: 'Begin; default an hour before `to`' }),
  to: optional(InstantInput).meta({ description: 'End, exclusive; default now' }),
  buckets: z
    .int()
    .min(1)
    .max(BUCKETS_MAX)
    .default(60)
    .meta({ description: 'Parts of the period, of equal length' }),
}

const counts = {
  capturedCount: z.int().meta({ description: 'Captures that are still stored' }),
  failedCount: z.int().meta({ description: 'Attempts that failed' }),
  rejectedCount: z.int().meta({
    description: 'Captures that were refused for the rate, counted by the minute and kept for 90 days',
  }),
  discardedCount: z.int().meta({
    description: 'Duplicates that `dedupe` did not store, counted by the minute and kept for 90 days',
  }),
}

const traffic = {
  from: Timestamp,
  to: Timestamp,
  buckets: z.array(z.object({ from: Timestamp, ...counts })),
}

const Traffic = z.object(traffic).meta({ id: 'Traffic' })

const AllTraffic = z
  .object({
    ...traffic,
    endpoints: z
      .array(z.object({ endpointId: z.uuid(), ...counts }))
      .meta({ description: 'Endpoints with captures, failures or refusals' }),
  })
  .meta({ id: 'AllTraffic' })

/** The requested period: an hour up to now by default, 90 days at most, and never empty. */
function periodOf(now: Date, { from, to }: { from?: Date | undefined; to?: Date | undefined }) {
  const end = to ?? now
  const begin = from ?? new Date(end.getTime() - HOUR_MS)
  const longest = TRAFFIC_DAYS_MAX * 24 * HOUR_MS
  const length = Math.min(longest, Math.max(1, end.getTime() - begin.getTime()))
  return { from: new Date(end.getTime() - length), to: end }
}

const endpointId = z.string().meta({ format: 'uuid', description: 'Id of the endpoint' })

/** Count an endpoint's captures, now and over time. */
export const trafficRoutes = router({
  stats: route({
    method: 'GET',
    path: '/api/v1/endpoints/{endpointId}/stats',
    summary: 'Read storage, traffic, retention and delivery backlog of an endpoint',
    input: z.object({ endpointId }),
    output: EndpointStats,
    finds: findsEndpoint,
  }).query(({ ctx }) => endpointStats(ctx, ctx.endpoint)),

  traffic: route({
    method: 'GET',
    path: '/api/v1/endpoints/{endpointId}/traffic',
    summary: 'Count captures and failures of an endpoint over a period',
    description: `The period is ${TRAFFIC_DAYS_MAX} days at most; the beginning of a longer one is cut off.`,
    input: z.object({ endpointId, ...period }),
    output: Traffic,
    finds: findsEndpoint,
  }).query(({ ctx, input }) => {
    const asked = { ...periodOf(ctx.clock.now(), input), buckets: input.buckets }
    return searching(ctx, `traffic ${ctx.endpoint.id}`, (db, options) =>
      countTraffic(db, { endpointId: ctx.endpoint.id }, asked, options),
    )
  }),
})

/** Count the workspace's captures over time. */
export const allTrafficRoutes = router({
  traffic: route({
    method: 'GET',
    path: '/api/v1/traffic',
    summary: 'Count captures and failures of the workspace over a period, by endpoint',
    description: `The period is ${TRAFFIC_DAYS_MAX} days at most; the beginning of a longer one is cut off.`,
    input: z.object(period),
    output: AllTraffic,
  }).query(({ ctx, input }) => {
    const asked = { ...periodOf(ctx.clock.now(), input), buckets: input.buckets }
    return searching(ctx, `traffic ${ctx.workspace.id}`, (db, options) =>
      countTraffic(db, { workspaceId: ctx.workspace.id }, asked, options),
    )
  }),
})
