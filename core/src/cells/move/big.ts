import type { Db } from '../../platform/db/index.ts'
import { runSteps, type Step } from './steps.ts'
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

/** Place at which the first pass continues. */
export interface Cursor {
  readonly table: string
  readonly endpointId: string
  /** Second part of the last key that was copied; null at the start of an endpoint. */
  readonly after: string | null
}

/** SQL condition for rows `t` that a transaction from `since` on has written; all if it is null. */
export const writtenSince = (since: string | null): string =>
  since === null ? 'true' : `age(t.xmin) <= age('${BigInt(since)}'::xid)`

/** An attempt under way must not be in the target before the workspace: a sweep would end it there. */
const isUnderWay = ({ name }: MovedTable): string =>
  name === 'delivery_attempts' ? `t.state = 'Pending'` : 'false'

/**
 * Copies the rows of the big tables of some endpoints, batch by batch, up to the last one that is there at first: what
 * arrives meanwhile is for the next pass, else this one would have no end where it arrives as fast.
 *
 * @param from where an interrupted pass continues; null for the start
 * @param onBatch called after each batch with the number of its rows, and where to continue
 * @returns the number of copied rows
 */
export async function copyAll(
  { source, target }: Pair,
  tables: readonly MovedTable[],
  { endpointIds, from }: { readonly endpointIds: readonly string[]; readonly from: Cursor | null },
  onBatch: (rows: number, cursor: Cursor) => Promise<void>,
): Promise<number> {
  let copied = 0
  let skips = from !== null
  for (const table of tables) {
    const { key, type } = bigOf(table)
    const end = `coalesce($3::${type}, (select ${key} from ${table.name} where endpoint_id = $1::uuid order by ${key} desc limit 1))`
    for (const endpointId of endpointIds) {
      if (skips && (from?.table !== table.name || from.endpointId !== endpointId)) continue
      let after = skips ? (from?.after ?? null) : null
      skips = false
      let last: string | undefined
      for (;;) {
        const rows: readonly (RowKey & { readonly last: string })[] = await query(
          source,
          `select t.${key}::text as key, $1::text as "endpointId", (${table.size})::int as size, ${end}::text as last
          from ${table.name} t
          where t.endpoint_id = $1::uuid and ($2::${type} is null or t.${key} > $2::${type}) and t.${key} <= ${end}
            and not ${isUnderWay(table)}
          order by t.${key} limit ${BATCH_ROWS}`,
          [endpointId, after, last],
        )
        last ??= rows[0]?.last
        for (const batch of batchesOf(rows)) {
          await copyBatch({ source, target }, table, batch)
          copied += batch.length
          after = batch.at(-1)?.key ?? null
          await onBatch(batch.length, { table: table.name, endpointId, after })
        }
        if (rows.length < BATCH_ROWS) break
      }
    }
  }
  return copied
}

interface RowKey {
  readonly endpointId: string
  readonly key: string
  readonly size: number
}

function bigOf(table: MovedTable) {
  const big = BIG[table.name]
  if (big === undefined) throw new Error(`${table.name} is not a big table.`)
  return big
}

/** Number of rows and sum of their keys. */
interface Keys {
  readonly count: number
  readonly sum: bigint
}

/** The keys that the target has of each big table and endpoint, by {@link placeOf}. Kept up to date by what is written. */
export type KeysThere = Map<string, Keys>

const placeOf = ({ name, endpointId }: Pick<Seen, 'name' | 'endpointId'>): string => `${name} ${endpointId}`

const NONE = { count: 0, sum: 0n }

function add(there: KeysThere, place: string, { count, sum }: Changed | Keys, sign: 1 | -1): void {
  const known = there.get(place) ?? NONE
  there.set(place, { count: known.count + sign * count, sum: known.sum + BigInt(sign) * BigInt(sum) })
}

/** SQL for a number of a row, whose sum differs between other sets of as many rows. */
const numberOf = (table: MovedTable, row: string): string => {
  const { key, type } = bigOf(table)
  return type === 'bigint' ? `${row}.${key}` : `hashtextextended(${row}.${key}::text, 0)`
}

/** Reads which keys of the big tables the target has. */
export async function keysIn(
  target: Db,
  tables: readonly MovedTable[],
  endpointIds: readonly string[],
): Promise<KeysThere> {
  const seen = await lookAt(target, tables, endpointIds, () => 'false')
  return new Map(seen.map((one) => [placeOf(one), { count: one.count, sum: BigInt(one.sum) }]))
}

interface Seen {
  readonly name: string
  readonly endpointId: string
  readonly count: number
  readonly sum: string
  readonly least: string | null
  /** Keys of the rows to copy, and bytes of these rows. */
  readonly keys: readonly string[] | null
  readonly sizes: readonly number[] | null
}

interface Pass {
  readonly workspaceId: string
  readonly endpointIds: readonly string[]
  /** See {@link writtenSince}; attempts under way are copied, too, as the target's transaction hides them. */
  readonly since: string
  readonly there: KeysThere
}

/**
 * Copies what has changed in the big tables, and deletes in the target what is gone.
 *
 * @param source a snapshot
 * @returns the number of copied rows
 * @throws Error when the target has other rows than the source
 */
export async function copyChanged(
  { source, target }: Pair,
  tables: readonly MovedTable[],
  pass: Pass,
): Promise<number> {
  const { there } = pass
  const isCopied = (table: MovedTable) => `${writtenSince(pass.since)} or ${isUnderWay(table)}`
  const seen = await lookAt(source, tables, pass.endpointIds, isCopied)
  let copied = 0
  for (const table of tables) {
    const changed = seen
      .filter(({ name }) => name === table.name)
      .flatMap(({ endpointId, keys, sizes }) =>
        (keys ?? []).map((key, at) => ({ endpointId, key, size: sizes?.[at] ?? 0 })),
      )
    for (const batch of batchesOf(changed)) {
      const fresh = await copyBatch({ source, target }, table, batch)
      copied += batch.length
      for (const one of fresh) add(there, placeOf({ ...one, name: table.name }), one, 1)
    }
  }
  await deleteGone({ source, target }, tables, seen, pass)
  return copied
}

/** Reads the keys of each big table and endpoint, and which rows are to be copied, in one statement. */
async function lookAt(
  db: Db,
  tables: readonly MovedTable[],
  endpointIds: readonly string[],
  isCopied: (table: MovedTable) => string,
): Promise<readonly Seen[]> {
  const texts = tables.map((table) => {
    const { key, type } = bigOf(table)
    const least = type === 'bigint' ? `min(t.${key})` : 'null'
    return `select '${table.name}' as name, t.endpoint_id::text as "endpointId", count(*)::int as count,
      sum(${numberOf(table, 't')})::text as sum, ${least}::text as least,
      array_agg(t.${key}::text order by t.${key}) filter (where ${isCopied(table)}) as keys,
      array_agg((${table.size})::int order by t.${key}) filter (where ${isCopied(table)}) as sizes
    from ${table.name} t where t.endpoint_id = any($1::uuid[]) group by t.endpoint_id`
  })
  return await query<Seen>(db, texts.join(' union all '), [endpointIds])
}

function* batchesOf(rows: readonly RowKey[]): Generator<readonly RowKey[]> {
  let batch: RowKey[] = []
  let bytes = 0
  for (const row of rows) {
    if (batch.length > 0 && (batch.length === BATCH_ROWS || bytes + row.size > BATCH_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(row)
    bytes += row.size
  }
  if (batch.length > 0) yield batch
}

/** See {@link Keys}, as it comes from the database. */
interface Changed {
  readonly count: number
  readonly sum: string
}

type Fresh = Changed & Pick<Seen, 'endpointId'>

/**
 * Copies rows by their keys, and compares what the target has then.
 *
 * @returns the rows that the target did not have
 */
async function copyBatch(
  { source, target }: Pair,
  table: MovedTable,
  rows: readonly RowKey[],
): Promise<readonly Fresh[]> {
  const { key, type } = bigOf(table)
  const { name, columns } = table
  const [read] = await query<{ rows: string; digest: string }>(
    source,
    `select x.rows, md5(x.rows) as digest from (
      select coalesce(json_agg(to_json(t) order by t.endpoint_id, t.${key}), '[]')::text as rows
      from unnest($1::uuid[], $2::${type}[]) as w (endpoint_id, key)
      join ${name} t on t.endpoint_id = w.endpoint_id and t.${key} = w.key
    ) x`,
    [rows.map(({ endpointId }) => endpointId), rows.map((row) => row.key)],
  )
  const list = columns.join(', ')
  // A row that is replaced was locked before, and a new one was not.
  const [written] = await query<{ digest: string; fresh: readonly Fresh[] | null }>(
    target,
    `with written as (
      insert into ${name} as t (${list}) overriding system value
      select ${list} from json_populate_recordset(null::${name}, $1::json) r
      on conflict (endpoint_id, ${key}) do update set ${settingAll(columns, ['endpoint_id', key])}
      returning t as copy, xmax = 0 as is_new
    )
    select md5(coalesce(json_agg(to_json(w.copy) order by (w.copy).endpoint_id, (w.copy).${key}), '[]')::text) as digest,
      (select json_agg(f) from (
        select (n.copy).endpoint_id as "endpointId", count(*)::int as count, sum(${numberOf(table, '(n.copy)')})::text as sum
        from written n where n.is_new
        group by 1
      ) f) as fresh
    from written w`,
    [read?.rows ?? '[]'],
  )
  if (written?.digest !== read?.digest)
    throw new Error(`Rows of ${name} differ in the target after they were copied.`)
  return written?.fresh ?? []
}

/** SQL that sets all columns but those of the key to the values that were to be inserted. */
export const settingAll = (columns: readonly string[], key: readonly string[]): string =>
  columns
    .filter((column) => !key.includes(column))
    .map((column) => `${column} = excluded.${column}`)
    .join(', ')

/** Deletes the rows of the target that the source no longer has. Most are the oldest, so these are tried first. */
async function deleteGone(
  { source, target }: Pair,
  tables: readonly MovedTable[],
  seen: readonly Seen[],
  { workspaceId, endpointIds, there }: Pass,
): Promise<void> {
  const here = new Map(seen.map((one) => [placeOf(one), one]))
  const differing = () =>
    tables
      .flatMap((table) => endpointIds.map((endpointId) => ({ table, endpointId, name: table.name })))
      .filter((one) => {
        const [found, known] = [here.get(placeOf(one)), there.get(placeOf(one))]
        return (known?.count ?? 0) !== (found?.count ?? 0) || (known?.sum ?? 0n) !== BigInt(found?.sum ?? 0)
      })
  for (const isListed of [false, true]) {
    const places = differing()
    const steps: Step[] = []
    for (const one of places) {
      const { key, type } = bigOf(one.table)
      const found = here.get(placeOf(one))
      const kept = isListed
        ? `exists (select from json_array_elements_text($2) k where k::${type} = t.${key})`
        : found?.least == null
          ? String(found !== undefined)
          : `t.${key} >= ${BigInt(found.least)}`
      const text = `with gone as (
          delete from ${one.name} t where t.endpoint_id = '${one.endpointId}' and not ${kept} returning t.${key})
        select json_build_object('count', count(*), 'sum', coalesce(sum(${numberOf(one.table, 'g')}), 0)::text) from gone g`
      const list = `select coalesce(json_agg(${key}::text), '[]')::text as given from ${one.name} where endpoint_id = $1::uuid`
      const [listed] = isListed ? await query<{ given: string }>(source, list, [one.endpointId]) : []
      steps.push({ text, ...listed })
    }
    const gone = await runSteps<Changed>(target, workspaceId, steps)
    for (const [at, one] of places.entries()) add(there, placeOf(one), gone[at] ?? NONE, -1)
  }
  for (const { name } of differing())
    throw new Error(`${name} has other rows in the target than in the source.`)
}

/** Rows that one statement of a purge deletes. */
const PURGE_ROWS = 5_000

/** Deletes the rows of endpoints in the big tables. */
export async function purgeBig(db: Db, endpointIds: readonly string[]): Promise<void> {
  for (const [table, { key }] of Object.entries(BIG)) {
    for (const endpointId of endpointIds) {
      for (;;) {
        const [{ count } = { count: 0 }] = await query<{ count: number }>(
          db,
          `with gone as (
            delete from ${table} where endpoint_id = $1 and ${key} in (
              select ${key} from ${table} where endpoint_id = $1 order by ${key} limit ${PURGE_ROWS})
            returning 1
          ) select count(*)::int as count from gone`,
          [endpointId],
        )
        if (count < PURGE_ROWS) break
      }
    }
  }
}
