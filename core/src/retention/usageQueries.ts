import { type Db, run, statement } from '../platform/db/index.ts'
import { readStorageOf } from './storedBytes.ts'

/** `$1` the workspace, `$2` now, because expired endpoints do not count. */
const COUNTS = statement(
  'usage counts',
  `select
    (select count(*)::int from endpoints where workspace_id = $1::uuid and deleted_at is null
       and (expires_at is null or expires_at > $2::timestamptz)) as endpoints,
    (select count(*)::int from api_keys where workspace_id = $1::uuid and revoked_at is null
       and replaced_by_id is null and (expires_at is null or expires_at > $2::timestamptz)) as api_keys,
    (select count(*)::int from watchdogs where workspace_id = $1::uuid) as watchdogs,
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
export async function readUsage(db: Db, workspaceId: string, now: Date) {
  const [counts] = await run(db, COUNTS, [workspaceId, now])
  if (counts === undefined) throw new Error('Counting answered no row.')
  const perEndpoint = await run(db, PER_ENDPOINT, [workspaceId])
  return { counts, perEndpoint, storageBytes: await readStorageOf(db, workspaceId) }
}
