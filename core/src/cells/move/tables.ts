import type { Db } from '../../platform/db/index.ts'
import { CompiledQuery } from 'kysely'

/** Runs a statement whose table is only known at run time. */
export async function query<Row>(
  db: Db,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  return (await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]))).rows
}

/** Tables that stay where they are: they are not of a workspace, or the target makes its own rows. */
export const LEFT: Readonly<Record<string, string>> = {
  concurrency_slots: 'slots of calls that run now',
  delivery_workers: 'processes of the cell',
  gateway_heartbeats: 'processes of the cell',
  gateway_outages: 'history of the cell',
  installation: 'name and key check of the cell',
  kysely_migration: 'schema of the cell',
  kysely_migration_lock: 'schema of the cell',
  relay_endpoints: 'a relay has no cells',
  search_pages: 'made anew from the requests',
  search_progress: 'made anew from the requests',
  search_slices: 'made anew from the requests',
  workspace_moves: 'moves out of the cell',
}

/** Links to a parent that are no foreign keys. */
const LINKS: Readonly<Record<string, { readonly column: string; readonly parent: string }>> = {
  api_key_windows: { column: 'api_key_id', parent: 'api_keys' },
}

/**
 * Tables with many rows of an endpoint, and the second column of their key after `endpoint_id`. They are copied while
 * captures go on. They have no foreign keys, so their rows can come before the workspace.
 */
export const BIG: Readonly<Record<string, { readonly key: string; readonly type: string }>> = {
  requests: { key: 'id', type: 'bigint' },
  delivery_attempts: { key: 'id', type: 'bigint' },
  attempt_details: { key: 'attempt_id', type: 'bigint' },
  event_claims: { key: 'key', type: 'uuid' },
}

/** Tables to whose numbers others refer, without a foreign key. */
export const REFERRED: ReadonlySet<string> = new Set(['deliveries'])

export interface MovedTable {
  readonly name: string
  readonly columns: readonly string[]
  /** Columns that PostgreSQL derives from others. */
  readonly derived: readonly string[]
  /** SQL for the bytes of a row `t` as JSON, about, without reading values that are stored elsewhere. */
  readonly size: string
  /** Columns of its primary key; none for a table without one. */
  readonly key: readonly string[]
  /** Whether the key is one number, which may be taken in another cell. */
  readonly isNumbered: boolean
  /** Whether no row of another table refers to its rows. */
  readonly isLeaf: boolean
  /** The sequence that draws its numbers. */
  readonly sequence: string | null
  /** SQL condition for the rows of the workspace `$1`. */
  readonly condition: string
}

interface CatalogRow {
  readonly name: string
  readonly columns: readonly string[]
  readonly derived: readonly string[]
  readonly sizes: readonly string[]
  readonly key: readonly string[]
  readonly keyType: string
  readonly sequence: string | null
  readonly parents: readonly { readonly column: string; readonly parent: string }[]
}

/**
 * Reads the tables of a workspace from the catalog: `workspaces` first, and parents before what refers to them. A table belongs to the workspace by its column
 * `workspace_id` or `endpoint_id`, or by a reference to a table that does.
 *
 * @throws Error naming a table that is neither of a workspace nor listed as left
 */
export async function movedTables(db: Db): Promise<readonly MovedTable[]> {
  const rows = await query<CatalogRow>(
    db,
    `select case n.nspname when 'public' then c.relname else n.nspname || '.' || c.relname end as name,
      (select array_agg(a.attname::text order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      coalesce((select array_agg(a.attname::text) from pg_attribute a
        where a.attrelid = c.oid and not a.attisdropped and a.attgenerated <> ''), '{}') as derived,
      (select array_agg(case format_type(a.atttypid, null) when 'bytea' then format('2 * coalesce(octet_length(t.%I), 0)', a.attname)
          when 'text' then format('coalesce(octet_length(t.%I), 0)', a.attname)
          else format('coalesce(pg_column_size(t.%I), 0)', a.attname) end) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as sizes,
      coalesce((select array_agg(a.attname::text order by k.n) from pg_constraint p
        cross join lateral unnest(p.conkey) with ordinality as k (attnum, n)
        join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
        where p.conrelid = c.oid and p.contype = 'p'), '{}') as key,
      coalesce((select format_type(a.atttypid, null) from pg_constraint p
        join pg_attribute a on a.attrelid = c.oid and a.attnum = p.conkey[1]
        where p.conrelid = c.oid and p.contype = 'p'), '') as "keyType",
      case when c.relname = 'requests' then 'request_ids'
        when exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'id')
          then pg_get_serial_sequence(c.oid::regclass::text, 'id') end as sequence,
      coalesce((select json_agg(json_build_object('column', a.attname, 'parent', f.confrelid::regclass::text))
        from pg_constraint f join pg_attribute a on a.attrelid = c.oid and a.attnum = f.conkey[1]
        where f.conrelid = c.oid and f.contype = 'f'), '[]') as parents
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('public', 'creel_keys') and c.relkind = 'r' order by c.relname`,
  )
  const ofWorkspaces = rows.filter(({ name }) => !(name in LEFT))
  const left = new Map(ofWorkspaces.map((row) => [row.name, { ...row, parents: parentsOf(row) }]))
  const referred = new Set(REFERRED)
  for (const { parents } of left.values()) for (const { parent } of parents) referred.add(parent)
  const moved = new Map<string, MovedTable>()
  while (left.size > 0) {
    const ready = [...left.values()].filter(({ parents }) => parents.every(({ parent }) => !left.has(parent)))
    if (ready.length === 0) throw new Error(`Tables refer to each other: ${[...left.keys()].join(', ')}.`)
    for (const row of ready) {
      moved.set(row.name, tableOf(row, moved, !referred.has(row.name)))
      left.delete(row.name)
    }
  }
  const tables = [...moved.values()]
  const isWorkspaces = ({ name }: MovedTable) => name === 'workspaces'
  return [...tables.filter(isWorkspaces), ...tables.filter((table) => !isWorkspaces(table))]
}

function parentsOf({ name, parents }: CatalogRow): CatalogRow['parents'] {
  const link = LINKS[name]
  return link === undefined ? parents : [...parents, link]
}

function tableOf(row: CatalogRow, moved: ReadonlyMap<string, MovedTable>, isLeaf: boolean): MovedTable {
  const { name, columns, derived, sizes, key, keyType, sequence } = row
  return {
    name,
    columns,
    derived,
    size: sizes.join(' + '),
    key,
    isNumbered: key.length === 1 && /^(bigint|integer)$/.test(keyType),
    isLeaf,
    sequence,
    condition: conditionOf(row, moved),
  }
}

function conditionOf({ name, columns, parents }: CatalogRow, moved: ReadonlyMap<string, MovedTable>): string {
  if (name === 'workspaces') return 'id = $1'
  if (columns.includes('workspace_id')) return 'workspace_id = $1'
  if (columns.includes('endpoint_id')) {
    return 'endpoint_id in (select id from endpoints where workspace_id = $1)'
  }
  for (const { column, parent } of parents) {
    const table = moved.get(parent)
    if (table?.key.length === 1) return `${column} in (select ${table.key[0]} from ${parent} where ${table.condition})`
  }
  throw new Error(`The table ${name} is neither of a workspace nor listed as left.`)
}
