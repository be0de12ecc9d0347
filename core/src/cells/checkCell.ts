import type { Db } from '../platform/db/index.ts'
import type { CellPlace } from './cell.ts'
import { separateNumbers } from './sequences.ts'

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
