import type { SecretBox } from './secretBox.ts'

/** What became of stored secrets that were looked at. */
export interface Resealed {
  /** Sealed anew with the newest key. */
  resealedCount: number
  /** Which no key of this process opens: left as they are. */
  unreadableCount: number
}

/** A row whose sealed columns are looked at. */
interface SealedRow {
  readonly id: string
  readonly workspaceId: string
}

/** Rows that one transaction seals anew. */
export const RESEAL_ROWS = 100

/**
 * The columns of a row that are to be written: those that another key sealed, or no key id tells of.
 *
 * @param counts are added to
 */
export function resealedColumns<Row extends SealedRow, Column extends keyof Row & string>(
  secrets: SecretBox,
  row: Row & Readonly<Record<Column, Buffer | null>>,
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
