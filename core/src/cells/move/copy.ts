import type { Db } from '../../platform/db/index.ts'
import { BIG, type MovedTable, query } from './tables.ts'

/** Bounds of a batch: rows, and their bytes as JSON, about. One row is copied whatever its size. */
export const BATCH_ROWS = 500
/** See {@link BATCH_ROWS}. */
export const BATCH_BYTES = 8 * 1024 * 1024

/** The databases of a move, each as one session in UTC, so that rows have the same text. */
export interface Pair {
  readonly source: Db
  readonly target: Db
}

/** Place at which a copy of big tables continues. */
export interface Cursor {
  readonly table: string
  readonly endpointId: string
  /** Second part of the last key that was copied; null at the start of an endpoint. */
  readonly after: string | null
}

/** Rows that a pass over the big tables copies. */
export interface Pass {
  /** Only rows that a transaction from this one on has written; null for all. */
  readonly since: string | null
  /** Whether attempts that are under way are copied, too. */
  readonly isLast: boolean
}

/** The oldest transaction that may still write: rows of it and of later ones are not seen by a pass that begins now. */
export async function oldestTransaction(source: Db): Promise<string> {
  const [row] = await query<{ xid: string }>(
    source,
    'select pg_snapshot_xmin(pg_current_snapshot())::xid::text as xid',
  )
  if (row === undefined) throw new Error('PostgreSQL gave no snapshot.')
  return row.xid
}

/**
 * Copies the rows of the big tables of some endpoints, batch by batch, and compares each batch with what the target has
 * then.
 *
 * @param onBatch called after each batch with the number of its rows, and where to continue
 * @returns the number of copied rows
 * @throws Error when the target has other rows than the source
 */
export async function copyBig(
  pair: Pair,
  tables: readonly MovedTable[],
  {
    endpointIds,
    pass,
    from,
  }: { readonly endpointIds: readonly string[]; readonly pass: Pass; readonly from: Cursor | null },
  onBatch: (rows: number, cursor: Cursor) => Promise<void>,
): Promise<number> {
  let copied = 0
  let skips = from !== null
  for (const table of tables) {
    const having = await endpointsIn(pair.source, table, endpointIds, pass)
    for (const endpointId of endpointIds) {
      if (!having.has(endpointId)) continue
      if (skips && (from?.table !== table.name || from.endpointId !== endpointId)) continue
      let after = skips ? (from?.after ?? null) : null
      skips = false
      for (;;) {
        const batch = await readBatch(pair.source, table, { endpointId, after, pass })
        if (batch.count === 0) break
        await writeBatch(pair.target, table, { endpointId, batch })
        copied += batch.count
        after = batch.last
        await onBatch(batch.count, { table: table.name, endpointId, after })
      }
    }
  }
  return copied
}

interface Batch {
  /** A JSON array. */
  readonly rows: string
  readonly digest: string
  readonly count: number
  readonly last: string | null
}

function bigOf(table: MovedTable) {
  const big = BIG[table.name]
  if (big === undefined) throw new Error(`${table.name} is not a big table.`)
  return big
}

/**
 * SQL condition for the rows `t` of a pass. An attempt that is under way is copied last, also if it began long ago: it
 * has not changed since.
 */
function ofPass({ name }: MovedTable, { since, isLast }: Pass): string {
  const isChanged = since === null ? 'true' : `age(t.xmin) <= age('${since}'::xid)`
  if (name !== 'delivery_attempts') return `and ${isChanged}`
  return isLast ? `and (${isChanged} or t.state = 'Pending')` : `and ${isChanged} and t.state <> 'Pending'`
}

/** The endpoints that have rows for a pass: most have none in the later ones. */
async function endpointsIn(
  source: Db,
  table: MovedTable,
  endpointIds: readonly string[],
  pass: Pass,
): Promise<ReadonlySet<string>> {
  if (pass.since === null || endpointIds.length === 1) return new Set(endpointIds)
  const rows = await query<{ id: string }>(
    source,
    `select e.id::text as id from unnest($1::uuid[]) as e (id)
    where exists (select from ${table.name} t where t.endpoint_id = e.id ${ofPass(table, pass)})`,
    [endpointIds],
  )
  return new Set(rows.map(({ id }) => id))
}

async function readBatch(
  source: Db,
  table: MovedTable,
  {
    endpointId,
    after,
    pass,
  }: { readonly endpointId: string; readonly after: string | null; readonly pass: Pass },
): Promise<Batch> {
  const { key, type } = bigOf(table)
  const [batch] = await query<Batch>(
    source,
    `select x.rows, md5(x.rows) as digest, x.count, x.last
    from (
      select coalesce(json_agg(to_json(t) order by c.n), '[]')::text as rows, count(*)::int as count,
        (array_agg(c.key::text order by c.n desc))[1] as last
      from (
        select t.${key} as key, row_number() over (order by t.${key}) as n,
          sum(${table.size}) over (order by t.${key}) as bytes
        from (
          select * from ${table.name} t
          where t.endpoint_id = $1::uuid and ($2::${type} is null or t.${key} > $2::${type}) ${ofPass(table, pass)}
          order by t.${key} limit ${BATCH_ROWS}
        ) t
      ) c join ${table.name} t on t.endpoint_id = $1::uuid and t.${key} = c.key
      where c.n = 1 or c.bytes <= ${BATCH_BYTES}
    ) x`,
    [endpointId, after],
  )
  return batch ?? { rows: '[]', digest: '', count: 0, last: null }
}

async function writeBatch(
  target: Db,
  table: MovedTable,
  { endpointId, batch }: { readonly endpointId: string; readonly batch: Batch },
): Promise<void> {
  const { key, type } = bigOf(table)
  await query(target, insertOf(table), [batch.rows])
  const [there] = await query<{ digest: string }>(
    target,
    `select md5(coalesce(json_agg(to_json(t) order by t.${key}), '[]')::text) as digest
    from ${table.name} t
    where t.endpoint_id = $1::uuid
      and t.${key} = any(array(select (r ->> '${key}')::${type} from json_array_elements($2::json) r))`,
    [endpointId, batch.rows],
  )
  if (there?.digest !== batch.digest) {
    throw new Error(`Rows of ${table.name} differ in the target after they were copied.`)
  }
}

/**
 * The statement that inserts rows, given as a JSON array. A row that is there already is replaced, unless its key is a
 * number: then it belongs to another workspace. Such a row gets a new number if nothing refers to it, else the statement
 * fails. Only databases that were used before they became cells have the same numbers.
 *
 * @param from SQL for the rows `r`, if they are not given: then numbers stay
 */
export function insertOf({ name, columns, key, isNumbered }: MovedTable, from?: string): string {
  const list = columns.join(', ')
  const rows = from ?? `json_populate_recordset(null::${name}, $1::json) r`
  if (isNumbered && from === undefined && !REFERRED.has(name)) {
    const values = columns.map((column) => (column === 'id' ? FREE_NUMBER(name) : `r.${column}`)).join(', ')
    return `insert into ${name} (${list}) overriding system value select ${values} from ${rows}`
  }
  const others = columns.filter((column) => !key.includes(column))
  const replaced =
    others.length === 0
      ? 'nothing'
      : `update set ${others.map((column) => `${column} = excluded.${column}`).join(', ')}`
  const conflict = key.length === 0 || isNumbered ? '' : `on conflict (${key.join(', ')}) do ${replaced}`
  return `insert into ${name} (${list}) overriding system value select ${list} from ${rows} ${conflict}`
}

/** Tables to whose numbers others refer. */
const REFERRED = new Set(['deliveries'])

const FREE_NUMBER = (table: string) =>
  `case when exists (select from ${table} t where t.id = r.id) then nextval('${table}_id_seq') else r.id end`

/**
 * Makes the target's rows of the big tables those of the source: deletes rows that the source no longer has, and
 * compares numbers and hashes of the keys.
 *
 * @param isLast false while captures go on: then the source may have rows that are not copied yet
 * @throws Error when they still differ after the last comparison
 */
export async function compareBig(
  { source, target }: Pair,
  tables: readonly MovedTable[],
  { endpointIds, isLast }: { readonly endpointIds: readonly string[]; readonly isLast: boolean },
): Promise<void> {
  for (const table of tables) {
    const { key, type } = bigOf(table)
    const [there, here] = await Promise.all([
      digestsOf(target, table, endpointIds),
      digestsOf(source, table, endpointIds),
    ])
    const differing = endpointIds.filter((id) => there.get(id) !== here.get(id))
    for (const endpointId of differing) {
      const [kept] = await query<{ keys: string }>(
        source,
        `select coalesce(json_agg(${key}), '[]')::text as keys from ${table.name} where endpoint_id = $1::uuid`,
        [endpointId],
      )
      await query(
        target,
        `delete from ${table.name} t where t.endpoint_id = $1::uuid and not exists (
          select from json_array_elements_text($2::json) k where k::${type} = t.${key})`,
        [endpointId, kept?.keys ?? '[]'],
      )
    }
    if (!isLast || differing.length === 0) continue
    const after = await digestsOf(target, table, differing)
    for (const id of differing) {
      if (after.get(id) === here.get(id)) continue
      throw new Error(
        `${table.name} has other rows in the target (${after.get(id)}) than in the source (${here.get(id)}).`,
      )
    }
  }
}

/** Number of rows and hash of the keys in a big table, by endpoint; endpoints without rows are left out. */
async function digestsOf(
  db: Db,
  table: MovedTable,
  endpointIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { key } = bigOf(table)
  const rows = await query<{ id: string; digest: string }>(
    db,
    `select endpoint_id::text as id, count(*)::text || ' ' || sum(hashtextextended(${key}::text, 0))::text as digest
    from ${table.name} where endpoint_id = any($1::uuid[]) group by endpoint_id`,
    [endpointIds],
  )
  return new Map(rows.map(({ id, digest }) => [id, digest]))
}
