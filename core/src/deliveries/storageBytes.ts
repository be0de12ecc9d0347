import { sql } from 'kysely'
import { type Db, run, statement, type Trx } from '../platform/db/index.ts'

/**
 * The least bytes that a row of an attempt counts. An attempt has one row, and one more for its record of what was sent
 * and received. A row with its index entries takes about this much.
 */
const ROW_BYTES = 512

const sumOf = (columns: readonly string[], besides = ''): string =>
  `greatest(${ROW_BYTES}, ${columns.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ')}${besides})`

/**
 * SQL for the storage bytes of the row of a finished attempt.
 *
 * @param row alias of its row
 * @param end alias of the row with its outcome
 */
export const attemptBytesOf = (row: string, end: string): string =>
  sumOf([`${row}.url`, `${row}.action_name`, `${end}.error`, `${end}.transform_note`])

/**
 * SQL for the storage bytes of an attempt's record of what was sent and received.
 *
 * @param bodyBytes SQL for the length of a body that the record gets; none by default
 */
export const recordBytesOf = (row: string, bodyBytes?: string): string =>
  sumOf(
    [
      'sent_method',
      'sent_url',
      'sent_headers',
      'sent_body',
      'received_headers',
      'received_body',
      'sealed',
    ].map((column) => `${row}.${column}`),
    bodyBytes === undefined ? '' : ` + ${bodyBytes}`,
  )

/**
 * SQL that adds to the bytes of endpoints' attempts, or subtracts from them. The sum of all additions always equals the
 * rows of the endpoint's attempts. It waits for no other transaction.
 *
 * @param source a query for pairs of endpoint id and bytes
 */
export const addAttemptBytes = (source: string): string =>
  `insert into attempt_bytes (endpoint_id, bytes) ${source}`

const COUNT = statement(
  'count attempts',
  `with given as (
    select * from unnest($1::uuid[], $2::bigint[]) as g (endpoint_id, id)
  ), attempts as (
    update delivery_attempts a set storage_bytes = ${attemptBytesOf('a', 'a')}
    from (
      select c.endpoint_id, c.id, coalesce(c.storage_bytes, 0) as bytes
      from given g join delivery_attempts c on c.endpoint_id = g.endpoint_id and c.id = g.id
      where c.state <> 'Pending' order by c.id for update of c
    ) counted
    where a.endpoint_id = counted.endpoint_id and a.id = counted.id
    returning a.endpoint_id, a.storage_bytes - counted.bytes as more
  ), records as (
    update attempt_details d set storage_bytes = ${recordBytesOf('d')}
    from (
      select c.endpoint_id, c.attempt_id, coalesce(c.storage_bytes, 0) as bytes
      from given g join attempt_details c on c.endpoint_id = g.endpoint_id and c.attempt_id = g.id
      order by c.attempt_id for update of c
    ) counted
    where d.endpoint_id = counted.endpoint_id and d.attempt_id = counted.attempt_id
    returning d.endpoint_id, d.storage_bytes - counted.bytes as more
  )
  ${addAttemptBytes(`
    select endpoint_id, sum(more)::bigint from (select * from attempts union all select * from records) changed
    group by endpoint_id having sum(more) <> 0`)}`,
)

/**
 * Updates the counted bytes of finished attempts and their records to their present length. Pending attempts are not
 * counted.
 *
 * @param endpointIds the endpoint of each attempt, or of all
 */
export async function countAttempts(
  trx: Trx,
  endpointIds: string | readonly string[],
  ids: readonly number[],
): Promise<void> {
  await run(trx, COUNT, [typeof endpointIds === 'string' ? ids.map(() => endpointIds) : endpointIds, ids])
}

/**
 * Folds the additions to an endpoint's attempt bytes into one row, so that sums stay cheap. Several processes may run
 * it at once.
 */
export async function foldAttemptBytes(db: Db): Promise<void> {
  await sql`
    with folded as (
      delete from attempt_bytes where ctid = any(array(
        select b.ctid from attempt_bytes b
        where b.endpoint_id in (select endpoint_id from attempt_bytes group by endpoint_id having count(*) > 1)
        for update skip locked
      ))
      returning endpoint_id, bytes
    )
    ${sql.raw(
      addAttemptBytes(
        'select endpoint_id, sum(bytes)::bigint from folded group by endpoint_id having sum(bytes) <> 0',
      ),
    )}`.execute(db)
}
