import { randomBytes } from 'node:crypto'
import type { Db } from '@creel/core'
import { sql } from 'kysely'
import { atEnd } from './atEnd.ts'
import { administer, urlOfDatabase } from './templateDatabase.ts'

/** A database of one test. */
export interface TestDatabase {
  readonly url: string
  /** Drops it, even with open connections; called at the end of the test file at the latest. */
  drop(): Promise<void>
}

/** URL of this run's server, which `bun run test` starts. */
export function adminUrl(): string {
  const url = process.env.CREEL_TEST_DATABASE_URL
  if (url === undefined)
    throw new Error('Run the tests with `bun run test [paths]`: it starts their PostgreSQL.')
  return url
}

/** Clones the migrated template. `isEmpty`: makes a database without our tables instead. */
export async function createTestDatabase({ isEmpty = false } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const admin = adminUrl()
  await administer(
    admin,
    isEmpty
      ? `CREATE DATABASE ${name}`
      : // Half the cost of the default, which writes the copy to the log.
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

/** Gives statements of a database a limit of time, on connections that are opened later and set none. */
export async function limitStatements(db: Db, limit: string): Promise<void> {
  await sql`do ${sql.lit(
    `begin execute format('alter database %I set statement_timeout = %L', current_database(), '${limit}'); end`,
  )}`.execute(db)
}

/** Refuses statements that change more rows of a table at once, until it is disposed. */
export async function boundRows(
  db: Db,
  { table, change, most }: { table: string; change: 'update' | 'delete'; most: number },
): Promise<AsyncDisposable> {
  await sql`
    create function bound_rows() returns trigger language plpgsql as ${sql.lit(`begin
      if (select count(*) from changed) > ${most} then raise 'too many in one statement'; end if;
      return null;
    end`)}`.execute(db)
  await sql`
    create trigger bound_rows after ${sql.raw(change)} on ${sql.table(table)}
    referencing ${sql.raw(change === 'update' ? 'new' : 'old')} table as changed
    for each statement execute function bound_rows()`.execute(db)
  return {
    async [Symbol.asyncDispose]() {
      await sql`drop function bound_rows cascade`.execute(db)
    },
  }
}
