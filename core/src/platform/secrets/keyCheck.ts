import type { Db } from '../db/index.ts'
import type { SecretBox } from './secretBox.ts'

const NAME = 'secret_key_sample'
const SAMPLE = 'creel'

/**
 * Proves that this process holds the key that the stored secrets were sealed with. The first process to ask
 * leaves a sealed sample in `installation`; every later one must be able to open it.
 *
 * @throws Error with words for the operator when the key is another one
 */
export async function checkSecretKey(db: Db, secrets: SecretBox): Promise<void> {
  await db
    .insertInto('installation')
    .values({ name: NAME, value: secrets.seal(SAMPLE) })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const row = await db
    .selectFrom('installation')
    .select('value')
    .where('name', '=', NAME)
    .executeTakeFirstOrThrow()
  try {
    secrets.open(row.value)
  } catch {
    throw new Error(
      'CREEL_SECRET_KEY is not the key that this database was set up with; the stored secrets cannot be read with it.',
    )
  }
}
