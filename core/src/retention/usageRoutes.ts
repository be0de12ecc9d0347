import { z } from 'zod'
import { route, router } from '../api/route.ts'
import { Timestamp } from '../api/values.ts'
import { readUsage } from './usageQueries.ts'

const counted = (max: string) =>
  z.object({ count: z.int(), max: z.int().meta({ description: `The plan's ${max}` }) })

const Usage = z
  .object({
    endpoints: counted('`endpointsMax`'),
    apiKeys: counted('`apiKeysMax`'),
    watchdogs: counted('`watchdogsMax`'),
    alertChannels: counted('`alertChannelsMax`'),
    storedRequestsMax: z.int().meta({ description: 'Stored requests of one endpoint' }),
    storage: z.object({
      bytes: z.int().meta({
        description:
          'Stored requests and their attempts: bodies, heads (at least 1 KiB each), what was sent and answered',
      }),
      bytesMax: z.int().meta({ description: "The plan's `storedBytesMax`" }),
    }),
    perEndpoint: z.array(
      z.object({
        endpointId: z.uuid(),
        name: z.string(),
        storedRequestCount: z.int(),
        storedBytes: z.int().meta({ description: 'Bodies of stored requests' }),
        rejectedCount: z.int().meta({ description: 'Captures answered 429 since creation' }),
        lastRequestAt: Timestamp.nullable(),
      }),
    ),
  })
  .meta({ id: 'Usage' })

export const usageRoutes = router({
  usage: route({
    method: 'GET',
    path: '/api/v1/usage',
    summary: "Read the usage of the workspace, with its plan's limits",
    input: z.object({}),
    output: Usage,
  }).query(async ({ ctx }) => {
    const { counts, perEndpoint, storageBytes } = await readUsage(ctx.db, ctx.workspace.id, ctx.clock.now())
    const { limits } = ctx.plan
    return {
      endpoints: { count: counts.endpoints, max: limits.endpointsMax },
      apiKeys: { count: counts.apiKeys, max: limits.apiKeysMax },
      watchdogs: { count: counts.watchdogs, max: limits.watchdogsMax },
      alertChannels: { count: counts.alertChannels, max: limits.alertChannelsMax },
      storedRequestsMax: limits.storedRequestsMax,
      storage: { bytes: storageBytes, bytesMax: limits.storedBytesMax },
      perEndpoint: [...perEndpoint],
    }
  }),
})
