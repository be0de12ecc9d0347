import type { Client } from 'pg'

/** Captures to insert, and their endpoints. */
export interface FillOrder {
  readonly endpointIds: readonly string[]
  /** Captures in all, spread evenly; the remainder of the division is dropped. */
  readonly captures: number
  /** Age of the captures. */
  readonly ageDays: number
  readonly bodyBytes: number
}

const ROWS_AT_ONCE = 500_000

/**
 * Inserts captures as the gateway would, counters included, by SQL on the server, a hundred times faster than sending
 * them. Each body contains `marker-<number within its endpoint>-`.
 *
 * @param onProgress called with the number of captures so far
 */
export async function fillCaptures(
  database: Client,
  { endpointIds, captures, ageDays, bodyBytes }: FillOrder,
  onProgress: (laidDown: number) => void = () => {},
): Promise<void> {
  const each = Math.floor(captures / endpointIds.length)
  const atOnce = Math.max(1, Math.floor(ROWS_AT_ONCE / Math.max(1, each)))
  for (let from = 0; from < endpointIds.length; from += atOnce) {
    const ids = endpointIds.slice(from, from + atOnce)
    await database.query(
      `insert into requests (endpoint_id, id, received_at, method, path, header_names, header_values, content_type, size_bytes, ip,
         user_agent, body, body_truncated, body_is_binary, dispatch_state)
       select e, nextval('request_ids'), now() - $3::int * interval '1 day' + n * interval '1 ms', 'POST', '',
         E'Host\\nUser-Agent\\nAccept\\nContent-Type\\nContent-Length',
         convert_to(E'127.0.0.1:4400\\nbench/1\\n*/*\\napplication/json\\n' || $4::int, 'UTF8'), 'application/json', $4::int, '127.0.0.1',
         'bench/1', convert_to(left('marker-' || n || '-' || repeat(md5(n::text), $4::int / 32), $4::int), 'UTF8'), false, false,
         'NotAttempted'
       from unnest($1::uuid[]) e, generate_series(1, $2::int) n`,
      [ids, each, ageDays, bodyBytes],
    )
    await database.query(
      `update endpoint_counters set stored_request_count = stored_request_count + $2::int, stored_bytes = stored_bytes + $2::bigint * $3::int,
         storage_bytes = storage_bytes + $2::bigint * ($3::int + 1024),
         last_request_at = now() where endpoint_id = any($1::uuid[])`,
      [ids, each, bodyBytes],
    )
    onProgress(Math.min(captures, (from + ids.length) * each))
  }
}
