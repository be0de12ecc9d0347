import { z } from 'zod'
import { get, router } from '../api/route.ts'
import { Timestamp } from '../api/values.ts'
import { isLive } from '../keys/index.ts'
import { type Db, run, statement } from '../platform/db/index.ts'
import { readStorageOf } from './storedBytes.ts'

/** `$1` the workspace, `$2` now, because expired endpoints and their watchdogs do not count. */
const COUNTS = statement(
  'usage counts',
  `select
    (select count(*)::int from endpoints where workspace_id = $1::uuid and deleted_at is null
       and (expires_at is null or expires_at > $2::timestamptz)) as endpoints,
    (select count(*)::int from api_keys k where k.workspace_id = $1::uuid
       and k.replaced_by_id is null and ${isLive('$2')}) as api_keys,
    (select count(*)::int from watchdogs w join endpoints e on e.id = w.endpoint_id
       where w.workspace_id = $1::uuid and e.deleted_at is null
       and (e.expires_at is null or e.expires_at > $2::timestamptz)) as watchdogs,
    (select count(*)::int from alert_channels where workspace_id = $1::uuid) as alert_channels`,
)

const PER_ENDPOINT = statement(
  'usage per endpoint',
  `select e.id as endpoint_id, e.name, c.stored_request_count, c.stored_bytes, c.rejected_count, c.last_request_at
  from endpoints e join endpoint_counters c on c.endpoint_id = e.id
  where e.workspace_id = $1::uuid and e.deleted_at is null
  order by c.stored_request_count desc, e.id`,
)

/** Current usage of the workspace, endpoints with the most stored requests first. */
async function readUsage(db: Db, workspaceId: string, now: Date) {
  const [counts] = await run(db, COUNTS, [workspaceId, now])
  if (counts === undefined) throw new Error('Counting answered no row.')
  const perEndpoint = await run(db, PER_ENDPOINT, [workspaceId])
  return { counts, perEndpoint, storageBytes: await readStorageOf(db, workspaceId) }
}

const counted = (max: string) => z.object({ count: z.int(), max: z.int().describe(`The plan's ${max}`) })

const Usage = z
  .object({
    endpoints: counted('`endpointsMax`'),
    apiKeys: counted('`apiKeysMax`'),
    watchdogs: counted('`watchdogsMax`'),
    alertChannels: counted('`alertChannelsMax`'),
    storedRequestsMax: z.int().describe('Stored requests of one endpoint'),
    storage: z.object({
      bytes: z
        .int()
        .describe(
          'Stored requests and their attempts: bodies, heads (at least 1 KiB each), originals, what was sent and answered',
        ),
      bytesMax: z.int().describe("The plan's `storedBytesMax`"),
    }),
    perEndpoint: z.array(
      z.object({
        endpointId: z.uuid(),
        name: z.string(),
        storedRequestCount: z.int(),
        storedBytes: z.int().describe('Bodies of stored requests'),
        rejectedCount: z.int().describe('Captures answered 429 since creation'),
        lastRequestAt: Timestamp.nullable(),
      }),
    ),
  })
  .meta({ id: 'Usage' })

export const usageRoutes = router({
  usage: get('/api/v1/usage', {
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
