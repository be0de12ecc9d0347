import { type Db, type RowsOf, run, statement } from '../platform/db/index.ts'
import { storageBytesOf } from '../requests/index.ts'

/** A stored request that is older than all stored requests outside of the list. */
export interface OldestRequest {
  readonly endpointId: string
  readonly id: number
  /** Bytes freed by its eviction: its own, and those of its attempts' records. */
  readonly bytes: number
}

/** The mark of an endpoint's counters, and the id of its oldest stored request. */
export interface Mark {
  readonly endpointId: string
  readonly mark: number
  readonly firstId: number
}

/** Result of a search for the oldest stored requests. */
export interface OldestStored {
  /**
   * Oldest first. May be empty although there are requests: then the marks are outdated, and `firstIds` has newer ones.
   */
  readonly requests: readonly OldestRequest[]
  /** The oldest stored requests of endpoints with a lower mark, to be stored as their marks. */
  readonly firstIds: readonly Mark[]
}

const ENDPOINTS_AT_ONCE = 100
const REQUESTS_OF_EACH = 100

const OLDEST = statement(
  'oldest stored requests',
  `select m.endpoint_id, m.oldest_request_id as mark, r.id, r.bytes
  from (
    select c.endpoint_id, c.oldest_request_id from endpoint_counters c join endpoints e on e.id = c.endpoint_id
    where c.stored_request_count > 0 and ($1::uuid is null or e.workspace_id = $1)
    order by c.oldest_request_id, c.endpoint_id limit ${ENDPOINTS_AT_ONCE + 1}
  ) m
  left join lateral (
    select o.id, (${storageBytesOf('o')} + coalesce((
      select sum(d.storage_bytes) from attempt_details d where d.endpoint_id = o.endpoint_id and d.request_id = o.id
    ), 0))::bigint as bytes
    from requests o
    where o.endpoint_id = m.endpoint_id and o.id >= m.oldest_request_id and o.deleted_at is null and o.hidden_at is null
    order by o.id limit ${REQUESTS_OF_EACH}
  ) r on true
  order by m.oldest_request_id, m.endpoint_id, r.id`,
  { isPrepared: false },
)

/**
 * Finds the oldest stored requests of a workspace, or of all. Ids increase in the order of arrival, across all
 * endpoints. An endpoint's mark is a lower bound of its stored ids. So the search reads the endpoints with the lowest
 * marks, and the requests that it finds below the marks of all others are the oldest.
 */
export async function findOldestStored(db: Db, workspaceId: string | null): Promise<OldestStored> {
  const rows = await run(db, OLDEST, [workspaceId])
  const byEndpoint = [...Map.groupBy(rows, ({ endpointId }) => endpointId).values()]
  // Endpoints after the last one were not read.
  const unknown = byEndpoint.length > ENDPOINTS_AT_ONCE ? byEndpoint.pop() : undefined
  const horizon = Math.min(unknown?.[0]?.mark ?? Number.MAX_SAFE_INTEGER, ...byEndpoint.map(knownUpTo))
  const requests = byEndpoint
    .flat()
    .flatMap(({ endpointId, id, bytes }) =>
      id === null || id > horizon ? [] : [{ endpointId, id, bytes: bytes ?? 0 }],
    )
    .sort((a, b) => a.id - b.id)
  const firstIds = byEndpoint.flatMap(([first]) =>
    first === undefined || first.id === null || first.id === first.mark
      ? []
      : [{ endpointId: first.endpointId, mark: first.mark, firstId: first.id }],
  )
  return { requests, firstIds }
}

/** The id up to which the rows contain all of an endpoint's requests. */
function knownUpTo(rows: readonly RowsOf<typeof OLDEST>[]): number {
  const last = rows.at(-1)?.id
  return rows.length < REQUESTS_OF_EACH || last === null || last === undefined
    ? Number.MAX_SAFE_INTEGER
    : last
}
