import { sql } from 'kysely'
import { type Db, run, statement } from '../platform/db/index.ts'
import type { CellPlace } from './cell.ts'

/** Tables whose key is one number, which must differ between cells: a workspace keeps its numbers when it moves. */
export const NUMBERED_TABLES = [
  'alert_deliveries',
  'audit_entries',
  'deliveries',
  'event_deliveries',
  'listener_replays',
] as const

const numbersOf = <Table extends string>(table: Table) =>
  statement(
    `numbers of ${table}`,
    `select last_value::text as last,
      (select seqincrement from pg_sequence where seqrelid = '${table}_id_seq'::regclass)::text as step
    from ${table}_id_seq`,
    { isPrepared: false, notNull: ['step'] },
  )
const SEQUENCES = NUMBERED_TABLES.map((table) => ({ sequence: `${table}_id_seq`, numbers: numbersOf(table) }))

/** Sequence increment: a cell draws ids that are congruent to its number. */
const STEP = 4096
/** Lowest number that a cell draws: above those of a database that was used before it became a cell. */
const FLOOR = 2 ** 40

/** Makes a database draw numbers that no other cell draws. The result is the same if it is called again. */
export async function separateNumbers(db: Db, { number }: CellPlace): Promise<void> {
  for (const { sequence, numbers } of SEQUENCES) {
    await db.transaction().execute(async (trx) => {
      const [row] = await run(trx, numbers, [])
      if (row === undefined || Number(row.step) === STEP) return
      const above = Math.max(FLOOR, Number(row.last) + STEP)
      const start = Math.ceil((above - number) / STEP) * STEP + number
      await sql.raw(`alter sequence ${sequence} increment by ${STEP} restart with ${start}`).execute(trx)
    })
  }
}
