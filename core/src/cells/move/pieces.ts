import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Db } from '../../platform/db/index.ts'
import { BATCH_BYTES, BATCH_ROWS } from './copy.ts'
import { type MovedTable, query } from './tables.ts'

/** Rows of a workspace in a small table. */
export interface SmallRows {
  readonly workspaceId: string
  /** Only rows that a transaction from this one on has written; all if absent. */
  readonly since?: string
  /** Whether the rows may change meanwhile. They are locked if not. */
  readonly mayChange?: boolean
}

/**
 * Passes the rows of a workspace in a table of the source on as JSON arrays of {@link BATCH_BYTES}, about, with their
 * digests, as {@link digestOf} makes them. Runs in the caller's transaction.
 *
 * @returns number and digest of all rows
 */
export async function eachPiece(
  source: Db,
  table: MovedTable,
  { workspaceId, since, mayChange = false }: SmallRows,
  passOn: (rows: string, digest: string) => Promise<void>,
): Promise<{ readonly count: number; readonly digest: string }> {
  const hashes: string[] = []
  const [{ largest } = { largest: 1 }] = await query<{ largest: number }>(
    source,
    `select coalesce(max(${table.size}), 1)::int as largest from ${table.name} t where ${table.condition}`,
    [workspaceId],
  )
  const rows = Math.max(1, Math.min(BATCH_ROWS, Math.floor(BATCH_BYTES / largest)))
  // Cursors take no parameters.
  const condition = table.condition.replaceAll('$1', `'${z.guid().parse(workspaceId)}'`)
  const isChanged =
    since === undefined ? '' : `and age(xmin) <= age('${z.string().regex(/^\d+$/).parse(since)}'::xid)`
  await query(
    source,
    `declare piece no scroll cursor for
    select to_json(t)::text as row, ${hashOf(table)} as hash
    from (select * from ${table.name} where ${condition} ${isChanged} ${mayChange ? '' : 'for update'}) t`,
  )
  for (;;) {
    const piece = await query<{ row: string; hash: string }>(source, `fetch ${rows} from piece`)
    const ofPiece = piece.map(({ hash }) => hash)
    hashes.push(...ofPiece)
    if (piece.length > 0) await passOn(`[${piece.map(({ row }) => row).join(',')}]`, digestFrom(ofPiece))
    if (piece.length < rows) break
  }
  await query(source, 'close piece')
  return { count: hashes.length, digest: digestFrom(hashes) }
}

const digestFrom = (hashes: readonly string[]): string =>
  `${hashes.length} ${createHash('md5').update(hashes.toSorted().join('')).digest('hex')}`

/** SQL for a hash of a row `t`, without a number that may be new and without what PostgreSQL derives. */
const hashOf = ({ isNumbered, derived }: MovedTable): string =>
  `md5((to_jsonb(t) - '{${[...derived, ...(isNumbered ? ['id'] : [])].join(',')}}'::text[])::text)`

/**
 * SQL for the number of rows `t` and a hash of them, in any order.
 *
 * @param rows SQL for the rows; those of the workspace `$1` by default
 */
export const digestOf = (table: MovedTable, rows = `from ${table.name} t where ${table.condition}`): string =>
  `count(*)::text || ' ' || md5(coalesce(string_agg(h.hash, '' order by h.hash collate "C"), '')) as digest
    from (select ${hashOf(table)} as hash ${rows}) h`
