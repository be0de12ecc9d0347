import type { Db, Trx } from '../db/index.ts'
import type { SecretBox } from './secretBox.ts'

/** Counts of stored secrets that were checked. */
export interface Resealed {
  /** Resealed with the newest key. */
  resealedCount: number
  /** Left unchanged, since no key of this process opens them. */
  unreadableCount: number
}

/** A row of a table that stores secrets. */
type SealedRow<Column extends string> = { readonly id: string; readonly workspaceId: string } & Readonly<
  Record<Column, Buffer | null>
>

/** Access to a table that stores secrets, by its noun. */
export interface SealedTable<Column extends string> {
  /** Its sealed columns. */
  readonly columns: readonly Column[]
  /** Reads and locks at most `limit` rows with a secret, in order of id, after `afterId`. */
  next(trx: Trx, afterId: string, limit: number): Promise<readonly SealedRow<Column>[]>
  /** Writes the resealed columns of a row. */
  write(trx: Trx, id: string, columns: Partial<Record<Column, Buffer>>): Promise<unknown>
}

/** Rows that one transaction reseals. */
const ROWS_AT_ONCE = 100
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/**
 * Reseals the stored secrets of a table with the newest key, in batches, while the service runs.
 *
 * @param counts is increased in place
 */
export async function resealTable<Column extends string>(
  { db, secrets }: { readonly db: Db; readonly secrets: SecretBox },
  table: SealedTable<Column>,
  counts: Resealed,
): Promise<void> {
  for (let afterId: string | undefined = BEFORE_ALL; afterId !== undefined; ) {
    const from: string = afterId
    afterId = await db.transaction().execute(async (trx) => {
      const rows = await table.next(trx, from, ROWS_AT_ONCE)
      for (const row of rows) {
        const written = resealedColumns(secrets, row, table.columns, counts)
        if (Object.keys(written).length > 0) await table.write(trx, row.id, written)
      }
      return rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1)?.id
    })
  }
}

/** Reseals the columns of a row that were sealed with another key, or that name no key. */
function resealedColumns<Column extends string>(
  secrets: SecretBox,
  row: SealedRow<Column>,
  columns: readonly Column[],
  counts: Resealed,
): Partial<Record<Column, Buffer>> {
  const written: Partial<Record<Column, Buffer>> = {}
  for (const column of columns) {
    const sealed: Buffer | null = row[column]
    if (sealed === null || secrets.isCurrent(sealed)) continue
    try {
      written[column] = secrets.seal(secrets.open(sealed, row.workspaceId), row.workspaceId)
      counts.resealedCount += 1
    } catch {
      counts.unreadableCount += 1
    }
  }
  return written
}
