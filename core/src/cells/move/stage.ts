import type { Db } from '../../platform/db/index.ts'
import { insertOf, oldestTransaction, type Pair } from './copy.ts'
import { digestOf, eachPiece } from './pieces.ts'
import { BIG, type MovedTable, query } from './tables.ts'

/** Tables whose rows change by being inserted: triggers count revisions and add flows. */
export const BY_TRIGGERS = new Set(['endpoint_revisions', 'action_flows'])

/** Copies of small tables, in a schema of the target. They are made before the seal, so that it lasts shorter. */
export interface Staged {
  readonly schema: string
  readonly tables: ReadonlySet<MovedTable>
  /** Rows that a transaction from this one on has written may have changed since. */
  readonly since: string
}

const schemaOf = (workspaceId: string): string => `creel_move_${workspaceId.replaceAll('-', '')}`

const stageOf = ({ schema }: Pick<Staged, 'schema'>, { name }: MovedTable): string =>
  `${schema}.${name.replace('.', '_')}`

/** SQL that compares the keys of `left` and `right`. */
const sameKey = ({ key }: MovedTable, left: string, right: string): string =>
  key.map((column) => `${left}.${column} = ${right}.${column}`).join(' and ')

/**
 * Copies the small tables of a workspace to a schema of the target, without the bounds that would need the workspace.
 * The copies are not written ahead: a target that dies loses them, and the move starts again. Rows are compared while
 * they are staged.
 *
 * Not staged are tables without a key, those of {@link BY_TRIGGERS}, the workspace itself, and numbered rows whose numbers
 * are taken in the target.
 */
export async function stage(
  { source, target }: Pair,
  tables: readonly MovedTable[],
  workspaceId: string,
): Promise<Staged> {
  const schema = schemaOf(workspaceId)
  await unstage(target, workspaceId)
  await query(target, `create schema ${schema}`)
  const since = await oldestTransaction(source)
  const staged = new Set<MovedTable>()
  for (const table of tables) {
    const { name, columns, key, isNumbered } = table
    if (name in BIG || key.length === 0 || BY_TRIGGERS.has(name) || name === 'workspaces') continue
    const copy = stageOf({ schema }, table)
    await query(
      target,
      `create unlogged table ${copy} as select ${columns.join(', ')} from ${name} where false`,
    )
    await query(target, `alter table ${copy} add primary key (${key.join(', ')})`)
    await source
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute((snapshot) =>
        eachPiece(snapshot, table, { workspaceId, mayChange: true }, fill(target, table, copy)),
      )
    const taken = isNumbered
      ? await query(target, `select from ${copy} s join ${name} t on ${sameKey(table, 's', 't')} limit 1`)
      : []
    if (taken.length === 0) staged.add(table)
  }
  return { schema, tables: staged, since }
}

/** Deletes what is staged of a workspace. A no-op if nothing is. */
export async function unstage(target: Db, workspaceId: string): Promise<void> {
  // It tells of every table.
  await query(target, 'set client_min_messages = warning')
  await query(target, `drop schema if exists ${schemaOf(workspaceId)} cascade`)
}

/**
 * Inserts a staged table, once the workspace is sealed: first what has changed since it was staged is staged again. Both
 * are transactions of the caller.
 *
 * @returns the number of rows that had changed
 * @throws Error when the target has other rows than the source
 */
export async function insertStaged(
  { source, target }: Pair,
  table: MovedTable,
  staged: Staged,
  workspaceId: string,
): Promise<number> {
  const { name, columns, condition } = table
  const copy = stageOf(staged, table)
  const { since } = staged
  const { count } = await eachPiece(source, table, { workspaceId, since }, fill(target, table, copy))
  const [{ rows } = { rows: -1 }] = await query<{ rows: number }>(
    source,
    `select count(*)::int as rows from ${name} where ${condition}`,
    [workspaceId],
  )
  if ((await countOf(target, copy)) !== rows)
    await deleteGone({ source, target }, table, { copy, workspaceId })
  await query(target, insertOf(table, `${copy} r`))
  const values = (row: string) => `row(${columns.map((column) => `${row}.${column}`).join(', ')})`
  const [{ same } = { same: -1 }] = await query<{ same: number }>(
    target,
    `select count(*)::int as same from ${copy} r join ${name} t on ${sameKey(table, 'r', 't')}
    where record_image_eq(${values('r')}, ${values('t')})`,
  )
  if (same !== rows)
    throw new Error(`${name} has other rows in the target (${same}) than in the source (${rows}).`)
  return count
}

/** Writes rows to a copy, in place of those with the same keys, and compares them. */
const fill = (target: Db, table: MovedTable, copy: string) => async (rows: string, digest: string) => {
  const given = `json_populate_recordset(null::${table.name}, $1::json)`
  await query(target, `delete from ${copy} t using ${given} g where ${sameKey(table, 't', 'g')}`, [rows])
  const list = table.columns.join(', ')
  await query(target, `insert into ${copy} (${list}) select ${list} from ${given}`, [rows])
  const written = `from ${copy} t join ${given} g on ${sameKey(table, 't', 'g')}`
  const [there] = await query<{ digest: string }>(target, `select ${digestOf(table, written)}`, [rows])
  if (there?.digest !== digest)
    throw new Error(`Rows of ${table.name} differ in the target after they were copied.`)
}

/** Deletes rows of a copy that the source no longer has. */
async function deleteGone(
  { source, target }: Pair,
  table: MovedTable,
  { copy, workspaceId }: { readonly copy: string; readonly workspaceId: string },
): Promise<void> {
  const { key, name, condition } = table
  const [{ keys } = { keys: '[]' }] = await query<{ keys: string }>(
    source,
    `select coalesce(json_agg(k), '[]')::text as keys from (select ${key.join(', ')} from ${name} where ${condition}) k`,
    [workspaceId],
  )
  await query(
    target,
    `delete from ${copy} t where not exists (
      select from json_populate_recordset(null::${name}, $1::json) g where ${sameKey(table, 't', 'g')})`,
    [keys],
  )
}

async function countOf(target: Db, copy: string): Promise<number> {
  const [row] = await query<{ count: number }>(target, `select count(*)::int as count from ${copy}`)
  return row?.count ?? 0
}
