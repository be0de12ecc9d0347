import { sql } from 'kysely'
import type { Database, Db } from '../db/index.ts'
import type { SecretBox } from './secretBox.ts'

/** Counts of stored secrets that were checked. */
export interface Resealed {
  /** Resealed with the newest key. */
  resealedCount: number
  /** Left unchanged, since no key of this process opens them. */
  unreadableCount: number
}

export interface SealedTable {
  readonly table: string
  readonly columns: readonly string[]
}

/** Declares the sealed columns of a table with `id` and `workspace_id`, in the noun that writes it. */
export function sealedTable<Table extends keyof Database>(
  table: Table,
  columns: readonly (keyof Database[Table] & string)[],
): SealedTable {
  return { table, columns }
}

type SealedRow = { readonly id: string; readonly workspaceId: string } & Readonly<Record<string, unknown>>

/** Rows that one transaction reseals. */
const ROWS_AT_ONCE = 100
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/**
 * Reseals the stored secrets of a table with the newest key, in batches, while the service runs.
 *
 * @param counts is increased in place
 */
export async function resealTable(
  { db, secrets }: { readonly db: Db; readonly secrets: SecretBox },
  { table, columns }: SealedTable,
  counts: Resealed,
): Promise<void> {
  const names = columns.map((column) => sql.ref(column))
  const hasSecret = sql.join(
    names.map((name) => sql`${name} is not null`),
    sql` or `,
  )
  for (let afterId: string | undefined = BEFORE_ALL; afterId !== undefined; ) {
    const from: string = afterId
    afterId = await db.transaction().execute(async (trx) => {
      const { rows } = await sql<SealedRow>`
        select id, workspace_id, ${sql.join(names)} from ${sql.table(table)}
        where id > ${from} and (${hasSecret}) order by id limit ${ROWS_AT_ONCE} for no key update`.execute(
        trx,
      )
      for (const row of rows) {
        const written = resealedColumns(secrets, row, columns, counts)
        if (written.length === 0) continue
        const values = written.map(([column, sealed]) => sql`${sql.ref(column)} = ${sealed}`)
        await sql`update ${sql.table(table)} set ${sql.join(values)} where id = ${row.id}`.execute(trx)
      }
      return rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1)?.id
    })
  }
}

/** The columns of a row that were sealed with another key, or that name no key, sealed with the newest. */
function resealedColumns(
  secrets: SecretBox,
  row: SealedRow,
  columns: readonly string[],
  counts: Resealed,
): readonly (readonly [string, Buffer])[] {
  return columns.flatMap((column) => {
    const sealed = row[column]
    if (!Buffer.isBuffer(sealed) || secrets.isCurrent(sealed)) return []
    try {
      const resealed = secrets.seal(secrets.open(sealed, row.workspaceId), row.workspaceId)
      counts.resealedCount += 1
      return [[column, resealed] as const]
    } catch {
      counts.unreadableCount += 1
      return []
    }
  })
}
