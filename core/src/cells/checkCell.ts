import { sql } from 'kysely'
import { type Db, run, statement } from '../platform/db/index.ts'
import type { CellPlace } from './cell.ts'

const NAME = 'cell'

/**
 * Checks that a database belongs to the configured cell. The first process names it; later ones must use that name, so
 * that two swapped URLs are found before anything is served.
 *
 * The numbers that it draws are then its own.
 *
 * @throws Error with a message for the operator
 */
export async function checkCell(db: Db, place: CellPlace): Promise<void> {
  const { name } = place
  await db
    .insertInto('installation')
    .values({ name: NAME, value: Buffer.from(name) })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const stored = await cellNameOf(db)
  if (stored === name) return await separateNumbers(db, place)
  throw new Error(
    `The database of the cell "${name}" is the cell "${stored}". Check the URLs in CREEL_CELLS_FILE.`,
  )
}

/** The name of the cell that a database is; null if it has none. */
export async function cellNameOf(db: Db): Promise<string | null> {
  const row = await db.selectFrom('installation').select('value').where('name', '=', NAME).executeTakeFirst()
  return row?.value.toString('utf8') ?? null
}

/** Tables whose key is one number, which must differ between cells: a workspace keeps its numbers when it moves. */
const NUMBERED_TABLES = [
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
async function separateNumbers(db: Db, { number }: CellPlace): Promise<void> {
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
