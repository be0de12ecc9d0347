import type { AbortableQueryOptions } from 'kysely'
import { type Db, run, statement } from '../platform/db/index.ts'
import type { Order } from './schema.ts'
import { SEARCHED_BODY_BYTES } from './search.ts'

/** Sample from which a search chooses its shortcut: first requests, and bytes of each body. */
const SAMPLE = { rows: 24, bodyBytes: 2_048 } as const

/** The fewest requests of a step. */
export const ROWS_MIN = 8

/** The requests that a search has not looked through. */
export interface Left {
  readonly order: Order
  readonly below: number
  readonly above: number
}

/** SQL of the next visible requests of the endpoint `$1`, with ids below `$2` and above `$3`. */
const next = (order: Order) => `
  from requests
  where endpoint_id = $1::uuid and deleted_at is null and hidden_at is null and id < $2::bigint and id > $3::bigint
  order by id ${order}`

/** Reads no bodies. `$4` is a number of rows, `$5` the bytes. */
const countLonger = (order: Order) => `
  select count(*) filter (where octets_so_far > $5)::int as longer, count(*)::int as all
  from (
    select sum(least(octet_length(body), ${SEARCHED_BODY_BYTES})) over (order by id ${order}) as octets_so_far
    ${next(order)} limit $4
  ) as nearest`

const COUNT_LONGER = {
  asc: statement('count older requests beyond bytes', countLonger('asc'), { isPrepared: false }),
  desc: statement('count requests beyond bytes', countLonger('desc'), { isPrepared: false }),
}

/** Number of requests whose searched text fits into `bytes`, at most `rows` and at least a few. It reads no bodies. */
export async function rowsHolding(
  db: Db,
  endpointId: string,
  left: Left,
  { rows, bytes }: { rows: number; bytes: number },
  options: AbortableQueryOptions,
): Promise<number> {
  const values = [endpointId, left.below, left.above, rows, bytes]
  const [counted] = await run(db, COUNT_LONGER[left.order], values, options)
  if (counted === undefined || counted.longer === 0) return rows
  return Math.max(ROWS_MIN, counted.all - counted.longer)
}

const sample = (order: Order) => `
  select header_values, case when body_is_binary then '' else substring(body from 1 for ${SAMPLE.bodyBytes}) end as body
  ${next(order)} limit ${SAMPLE.rows}`

const SAMPLE_NEXT = {
  asc: statement('sample of older searched requests', sample('asc'), { isPrepared: false }),
  desc: statement('sample of searched requests', sample('desc'), { isPrepared: false }),
}

/** Texts of the next requests, as a shortcut is chosen by them. */
export async function sampleNext(
  db: Db,
  endpointId: string,
  left: Left,
  options: AbortableQueryOptions,
): Promise<Buffer[][]> {
  const rows = await run(db, SAMPLE_NEXT[left.order], [endpointId, left.below, left.above], options)
  return rows.map(({ headerValues, body }) => [headerValues, body])
}
