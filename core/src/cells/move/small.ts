import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Db } from '../../platform/db/index.ts'
import { BATCH_BYTES, BATCH_ROWS, type Pair, settingAll, writtenSince } from './big.ts'
import { deletingAll, runSteps, type Step } from './steps.ts'
import { type MovedTable, query, REFERRED } from './tables.ts'

/** Tables whose rows change by inserting others: triggers count revisions and add flows. */
const BY_TRIGGERS = new Set(['endpoint_revisions', 'action_flows'])

/** The most rows of several tables that are read at once. */
const GROUP_ROWS = 5_000

/** The tables that are copied as a whole in the last pass; tables whose numbers are taken in the target join them. */
export function wholeTables(tables: readonly MovedTable[]): Set<MovedTable> {
  return new Set(tables.filter(({ name, key }) => key.length === 0 || BY_TRIGGERS.has(name)))
}

interface Seen {
  readonly table: MovedTable
  readonly count: number
  readonly changed: number
  readonly bytes: number
  readonly largest: number
}

interface Pass {
  readonly workspaceId: string
  /** See `writtenSince`; null for the first pass. */
  readonly since: string | null
  readonly isLast: boolean
  /** See {@link wholeTables}. */
  readonly whole: Set<MovedTable>
}

/**
 * Copies what has changed in the small tables, in a transaction of the target that begins before the seal and ends with
 * the workspace in the target. So nothing reads them before, and nothing is left of a move that is killed.
 *
 * @param source a snapshot
 * @returns the number of copied rows
 * @throws Error when the target has other rows than the source, or cannot have them
 */
export async function copySmall(
  { source, target }: Pair,
  tables: readonly MovedTable[],
  pass: Pass,
): Promise<number> {
  const { workspaceId, isLast } = pass
  const isChanged = (table: MovedTable) => changedIn(table, pass)
  const [seen, found] = await Promise.all([
    lookAt(source, tables, workspaceId, isChanged),
    lookAt(target, tables, workspaceId, () => 'false'),
  ])
  const there = new Map(found.map(({ table, count }) => [table.name, count]))
  const now = seen.filter(({ table }) => isLast || !pass.whole.has(table))
  await deleteGone({ source, target }, now, there, pass)
  let copied = 0
  const whole = new Map<MovedTable, string[]>()
  for (const group of groupsOf(now)) {
    for await (const pieces of piecesOf(source, group, pass)) {
      await write(target, pieces, pass)
      for (const { table, hashes } of pieces) {
        copied += hashes.length
        if (pass.whole.has(table)) whole.set(table, [...(whole.get(table) ?? []), ...hashes])
      }
    }
  }
  if (isLast) await compare(target, seen, whole, workspaceId)
  return copied
}

/** SQL condition for the rows `t` of a table that a pass copies. */
const changedIn = (table: MovedTable, { whole, since }: Pass): string =>
  writtenSince(whole.has(table) ? null : since)

/** Counts the rows of each table, and those that are changed, in one statement. */
async function lookAt(
  db: Db,
  tables: readonly MovedTable[],
  workspaceId: string,
  isChanged: (table: MovedTable) => string,
): Promise<readonly Seen[]> {
  const texts = tables.map((table, at) => {
    const filter = `filter (where ${isChanged(table)})`
    return `select ${at} as at, count(*)::int as count, (count(*) ${filter})::int as changed,
      coalesce(sum(${table.size}) ${filter}, 0)::bigint as bytes, coalesce(max(${table.size}) ${filter}, 1)::int as largest
    from ${table.name} t where ${table.condition}`
  })
  const rows = await query<Omit<Seen, 'table'> & { readonly at: number }>(db, texts.join(' union all '), [
    workspaceId,
  ])
  return rows
    .toSorted((a, b) => a.at - b.at)
    .flatMap((row) => tables.slice(row.at, row.at + 1).map((table) => ({ ...row, table })))
}

/** SQL that compares the keys of `left` and `right`. */
const sameKey = ({ key }: MovedTable, left: string, right: string): string =>
  key.map((column) => `${left}.${column} = ${right}.${column}`).join(' and ')

const givenTo = (name: string): string => `json_populate_recordset(null::${name}, $2::json)`

/**
 * Deletes the rows of the target that the source no longer has, children first. Changed rows go, too, where nothing
 * refers to them: so two of them can change places in a unique column.
 */
async function deleteGone(
  { source, target }: Pair,
  seen: readonly Seen[],
  there: ReadonlyMap<string, number>,
  pass: Pass,
): Promise<void> {
  const countOf = ({ table }: Seen) => there.get(table.name) ?? 0
  const wholes = seen.filter((one) => countOf(one) > 0 && pass.whole.has(one.table))
  // If the target has those that did not change, and no more, all that changed is new.
  const doubtful = seen.filter(
    (one) => countOf(one) > 0 && countOf(one) + one.changed !== one.count && !pass.whole.has(one.table),
  )
  const keys =
    doubtful.length === 0
      ? []
      : await query<{ name: string; keys: string }>(
          source,
          doubtful
            .map(({ table }) => {
              const kept = table.isLeaf ? `and not ${changedIn(table, pass)}` : ''
              return `select '${table.name}' as name, coalesce(json_agg(k), '[]')::text as keys
              from (select ${table.key.join(', ')} from ${table.name} t where ${table.condition} ${kept}) k`
            })
            .join(' union all '),
          [pass.workspaceId],
        )
  const keysOf = new Map(keys.map((row) => [row.name, row.keys]))
  const steps = [...doubtful, ...wholes]
    .toSorted((a, b) => seen.indexOf(b) - seen.indexOf(a))
    .map(({ table }): Step => {
      const { name, condition } = table
      const kept = keysOf.get(name)
      if (kept === undefined) return deletingAll(table)
      const isKept = `(select from ${givenTo(name)} g where ${sameKey(table, 't', 'g')})`
      return { text: `delete from ${name} t where ${condition} and not exists ${isKept}`, given: kept }
    })
  await runSteps(target, pass.workspaceId, steps)
}

/** Groups tables that are read at once; one with many bytes is a group of its own. */
function groupsOf(seen: readonly Seen[]): readonly (readonly Seen[])[] {
  const groups: Seen[][] = []
  for (const one of seen.filter(({ changed }) => changed > 0)) {
    const group = groups.at(-1)
    if (group === undefined || isLong([...group, one])) groups.push([one])
    else group.push(one)
  }
  return groups
}

const isLong = (group: readonly Seen[]): boolean =>
  group.reduce((sum, { bytes }) => sum + bytes, 0) > BATCH_BYTES ||
  group.reduce((sum, { changed }) => sum + changed, 0) > GROUP_ROWS

interface Piece {
  readonly table: MovedTable
  /** A JSON array. */
  readonly rows: string
  readonly hashes: readonly string[]
}

/** Reads the changed rows of a group, {@link BATCH_BYTES} at once, about. */
async function* piecesOf(source: Db, group: readonly Seen[], pass: Pass): AsyncGenerator<readonly Piece[]> {
  // Cursors take no parameters.
  const workspace = `'${z.guid().parse(pass.workspaceId)}'::uuid`
  const text = group
    .map(
      ({ table }, at) => `select ${at} as at, to_json(t)::text as row, ${hashOf(table)} as hash
      from (select * from ${table.name} t where ${table.condition.replaceAll('$1', workspace)}
        and ${changedIn(table, pass)}) t`,
    )
    .join(' union all ')
  const inPieces = isLong(group)
  const largest = Math.max(...group.map((one) => one.largest))
  const count = Math.max(1, Math.min(BATCH_ROWS, Math.floor(BATCH_BYTES / largest)))
  if (inPieces) await query(source, `declare piece no scroll cursor for ${text}`)
  for (;;) {
    const rows = await query<{ at: number; row: string; hash: string }>(
      source,
      inPieces ? `fetch ${count} from piece` : text,
    )
    yield group.flatMap(({ table }, at) => {
      const own = rows.filter((row) => row.at === at)
      if (own.length === 0) return []
      return [
        { table, rows: `[${own.map(({ row }) => row).join(',')}]`, hashes: own.map(({ hash }) => hash) },
      ]
    })
    if (!inPieces || rows.length < count) break
  }
  if (inPieces) await query(source, 'close piece')
}

/** Writes rows of several tables, and compares what the target has then. */
async function write(target: Db, pieces: readonly Piece[], { whole, workspaceId }: Pass): Promise<void> {
  const inserts = pieces.map(({ table, rows }): Step => ({ text: insertOf(table), given: rows }))
  const digests = pieces.map(
    ({ table, rows }): Step => ({
      text:
        table.key.length === 0
          ? 'select null::json'
          : digestOf(
              table,
              `from (select * from ${table.name} where ${table.condition}) t
              join ${givenTo(table.name)} g on ${sameKey(table, 't', 'g')}`,
            ),
      given: rows,
    }),
  )
  const results = await runSteps<Digest>(target, workspaceId, [...inserts, ...digests]).catch(
    (cause: unknown) => {
      const names = pieces.map(({ table }) => table.name).join(', ')
      throw new Error(`The rows of ${names} cannot be inserted in the target: ${String(cause)}`, { cause })
    },
  )
  for (const [at, { table, hashes }] of pieces.entries()) {
    if (whole.has(table)) continue
    const there = results[pieces.length + at]
    if (there?.digest === digestFrom(hashes)) continue
    if (!table.isNumbered || REFERRED.has(table.name) || there?.count === hashes.length)
      throw new Error(`Rows of ${table.name} differ in the target after they were copied.`)
    whole.add(table)
    await runSteps(target, workspaceId, [deletingAll(table)])
  }
}

/** Compares what the target has in the end. */
async function compare(
  target: Db,
  seen: readonly Seen[],
  whole: ReadonlyMap<MovedTable, readonly string[]>,
  workspaceId: string,
): Promise<void> {
  const counted = seen.filter(({ table }) => !BY_TRIGGERS.has(table.name))
  const results = await runSteps<Digest>(
    target,
    workspaceId,
    counted.map(({ table }): Step => {
      const rows = `from (select * from ${table.name} where ${table.condition}) t`
      return {
        text: whole.has(table)
          ? digestOf(table, rows)
          : `select json_build_object('count', count(*)) ${rows}`,
      }
    }),
  )
  for (const [at, { table, count }] of counted.entries()) {
    const [there, hashes] = [results[at], whole.get(table)]
    if (there?.count === count && (hashes === undefined || there.digest === digestFrom(hashes))) continue
    throw new Error(
      `${table.name} has other rows in the target (${there?.count}) than in the source (${count}).`,
    )
  }
}

/**
 * SQL that inserts given rows. A row that is there already is replaced, unless its key is a number: then it belongs to
 * another workspace. Such a row gets a new number if nothing refers to it, else it is left out, and the comparison fails.
 * Only databases that were used before they became cells have the same numbers.
 */
function insertOf({ name, columns, key, isNumbered }: MovedTable): string {
  const isNew = isNumbered && !REFERRED.has(name)
  const values = columns.map((column) => (isNew && column === 'id' ? freeNumber(name) : `r.${column}`))
  const others = settingAll(columns, key)
  const owned = isNumbered ? `where t.workspace_id = excluded.workspace_id` : ''
  const replaced = others === '' ? 'nothing' : `update set ${others} ${owned}`
  const conflict = key.length === 0 || isNew ? '' : `on conflict (${key.join(', ')}) do ${replaced}`
  return `insert into ${name} as t (${columns.join(', ')}) overriding system value
    select ${values.join(', ')} from ${givenTo(name)} r ${conflict}`
}

const freeNumber = (table: string) =>
  `case when exists (select from ${table} t where t.id = r.id) then nextval('${table}_id_seq') else r.id end`

interface Digest {
  readonly count: number
  readonly digest: string
}

const digestFrom = (hashes: readonly string[]): string =>
  createHash('md5').update(hashes.toSorted().join('')).digest('hex')

/** SQL for a hash of a row `t`, without a number that may be new and without what PostgreSQL derives. */
const hashOf = ({ isNumbered, derived }: MovedTable): string =>
  `md5((to_jsonb(t) - '{${[...derived, ...(isNumbered ? ['id'] : [])].join(',')}}'::text[])::text)`

/** SQL for the number of rows `t` and a hash of them, in any order. */
const digestOf = (table: MovedTable, rows: string): string =>
  `select json_build_object('count', count(*), 'digest', md5(coalesce(string_agg(h.hash, '' order by h.hash collate "C"), '')))
  from (select ${hashOf(table)} as hash ${rows}) h`
