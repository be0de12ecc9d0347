import { randomBytes } from 'node:crypto'
import { atEnd } from './atEnd.ts'
import { administer, urlOfDatabase } from './templateDatabase.ts'

/** A database of a test's own. */
export interface TestDatabase {
  readonly url: string
  /** Drops it, whoever is still connected; done at the end of the test file at the latest. */
  drop(): Promise<void>
}

/** The server of this run, which `bun run test` starts; its databases come and go. */
export function adminUrl(): string {
  const url = process.env.CREEL_TEST_DATABASE_URL
  if (url === undefined)
    throw new Error('Run the tests with `bun run test [paths]`: it starts their PostgreSQL.')
  return url
}

/** Clones the migrated template. `isEmpty`: a database without our tables instead. */
export async function createTestDatabase({ isEmpty = false } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const admin = adminUrl()
  await administer(
    admin,
    isEmpty
      ? `CREATE DATABASE ${name}`
      : // Half of what it costs to write the copy to the log, as is the default.
        `CREATE DATABASE ${name} TEMPLATE ${process.env.CREEL_TEST_TEMPLATE} STRATEGY FILE_COPY`,
  )
  const database: TestDatabase = {
    url: urlOfDatabase(admin, name),
    async drop() {
      forget()
      await administer(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    },
  }
  const forget = atEnd('databases', database.drop)
  return database
}
