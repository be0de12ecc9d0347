import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // Captures leave it out. A constant default costs them nothing, and existing rows need not be rewritten.
  await sql`alter table requests add column imported boolean not null default false`.execute(db)
}
