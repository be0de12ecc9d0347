import type { Db } from '../db/index.ts'
import type { SecretBox } from './secretBox.ts'

const NAME = 'secret_key_sample'
const SAMPLE = 'creel'
const OWNER = 'installation'

/**
 * Checks that this process has the key with which the stored secrets were sealed. The first process stores a sealed
 * sample in `installation`; every later one must be able to open it.
 *
 * @throws Error with a message for the operator when the key is another one
 */
export async function checkSecretKey(db: Db, secrets: SecretBox): Promise<void> {
  await db
    .insertInto('installation')
    .values({ name: NAME, value: secrets.seal(SAMPLE, OWNER) })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const row = await db
    .selectFrom('installation')
    .select('value')
    .where('name', '=', NAME)
    .executeTakeFirstOrThrow()
  try {
    secrets.open(row.value, OWNER)
  } catch {
    throw new Error(
      'CREEL_SECRET_KEY is not the key that this database was set up with; the stored secrets cannot be read with it. After a change of keys CREEL_SECRET_KEYS names the old one too, until `creel secrets rotate` is done.',
    )
  }
}

/** Whether a service has run on this database. Then its secrets need the key with which they were sealed. */
export async function hasSealedSecrets(db: Db): Promise<boolean> {
  const row = await db.selectFrom('installation').select('name').where('name', '=', NAME).executeTakeFirst()
  return row !== undefined
}

/** Reseals the sample with the newest key. From then on a process without that key is refused. */
export async function resealSample(db: Db, secrets: SecretBox): Promise<void> {
  const value = secrets.seal(SAMPLE, OWNER)
  await db
    .insertInto('installation')
    .values({ name: NAME, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}
