import { sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'
import type { CellPlace } from './cell.ts'

/** Tables whose key is one number, which must differ between cells: a workspace keeps its numbers when it moves. */
export const NUMBERED_TABLES = [
  'alert_deliveries',
  'audit_entries',
  'deliveries',
  'event_deliveries',
  'listener_replays',
] as const

/** Cells take turns in the numbers: each draws those that leave its number as the rest of a division by this. */
const STEP = 4096
/** Lowest number that a cell draws: above those of a database that was used before it became a cell. */
const FLOOR = 2 ** 40

/** Makes a database draw numbers that no other cell draws. The result is the same if it is called again. */
export async function separateNumbers(db: Db, { number }: CellPlace): Promise<void> {
  for (const table of NUMBERED_TABLES) {
    const sequence = `${table}_id_seq`
    await db.transaction().execute(async (trx) => {
      const { rows } = await sql<{ last: string; step: string }>`
        select last_value::text as last, (select seqincrement from pg_sequence where seqrelid = ${sequence}::regclass)::text as step
        from ${sql.table(sequence)}`.execute(trx)
      const [row] = rows
      if (row === undefined || Number(row.step) === STEP) return
      const above = Math.max(FLOOR, Number(row.last) + STEP)
      const start = Math.ceil((above - number) / STEP) * STEP + number
      await sql.raw(`alter sequence ${sequence} increment by ${STEP} restart with ${start}`).execute(trx)
    })
  }
}
