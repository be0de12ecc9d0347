import { z } from 'zod'
import type { Context } from '../api/context.ts'
import { validationFailed } from '../api/errors.ts'
import { get, router } from '../api/route.ts'
import { endpointId, InstantInput, optional, Timestamp } from '../api/values.ts'
import { findsEndpoint } from '../endpoints/index.ts'
import { DAY_MS, HOUR_MS } from '../platform/time/index.ts'
import { searching } from '../requests/index.ts'
import { countTraffic, TRAFFIC_DAYS_MAX, type TrafficOf } from './queries.ts'
import { EndpointStats, endpointStats } from './stats.ts'

const BUCKETS_MAX = 120

const Period = z.object({
  from: optional(InstantInput).describe('Begin; default an hour before `to`'),
  to: optional(InstantInput).describe('End, exclusive; default now'),
  buckets: z.int().min(1).max(BUCKETS_MAX).default(60).describe('Parts of the period, of equal length'),
})

const counts = {
  capturedCount: z.int().describe('Captures that are still stored'),
  failedCount: z.int().describe('Attempts that failed'),
  rejectedCount: z
    .int()
    .describe('Captures that were refused for the rate, counted by the minute and kept for 90 days'),
  discardedCount: z
    .int()
    .describe('Duplicates that `dedupe` did not store, counted by the minute and kept for 90 days'),
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
      .describe('Endpoints with captures, failures or refusals'),
  })
  .meta({ id: 'AllTraffic' })

/**
 * Counts in the requested period, as a search: an hour up to now by default, 90 days at most, and never empty.
 *
 * @throws DomainError `validation_failed` when the period begins after its end
 */
function trafficOf(ctx: Context, of: TrafficOf, { from, to, buckets }: z.output<typeof Period>) {
  const end = to ?? ctx.clock.now()
  const begin = from ?? new Date(end.getTime() - HOUR_MS)
  if (begin > end) {
    const detail = `from must not be later than the end of the period, ${end.toISOString()}.`
    throw validationFailed([{ path: ['from'], code: 'out_of_range', detail }])
  }
  const length = Math.min(TRAFFIC_DAYS_MAX * DAY_MS, Math.max(1, end.getTime() - begin.getTime()))
  const asked = { from: new Date(end.getTime() - length), to: end, buckets }
  return searching(ctx, `traffic ${Object.values(of)}`, (db, options) => countTraffic(db, of, asked, options))
}

/** Count an endpoint's captures, now and over time. */
export const trafficRoutes = router({
  stats: get('/api/v1/endpoints/{endpointId}/stats', {
    summary: 'Read storage, traffic, retention and delivery backlog of an endpoint',
    input: z.object({ endpointId }),
    output: EndpointStats,
    finds: findsEndpoint,
  }).query(({ ctx }) => endpointStats(ctx, ctx.endpoint)),

  traffic: get('/api/v1/endpoints/{endpointId}/traffic', {
    summary: 'Count captures and failures of an endpoint over a period',
    description: `The period is ${TRAFFIC_DAYS_MAX} days at most; the beginning of a longer one is cut off.`,
    input: z.object({ endpointId, ...Period.shape }),
    output: Traffic,
    finds: findsEndpoint,
  }).query(({ ctx, input }) => trafficOf(ctx, { endpointId: ctx.endpoint.id }, input)),
})

/** Count the workspace's captures over time. */
export const allTrafficRoutes = router({
  traffic: get('/api/v1/traffic', {
    summary: 'Count captures and failures of the workspace over a period, by endpoint',
    description: `The period is ${TRAFFIC_DAYS_MAX} days at most; the beginning of a longer one is cut off.`,
    input: Period,
    output: AllTraffic,
  }).query(({ ctx, input }) => trafficOf(ctx, { workspaceId: ctx.workspace.id }, input)),
})
