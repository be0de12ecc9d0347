import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // Captures leave it out: a constant default costs them nothing, and the rows that are there need no rewriting.
  await sql`alter table requests add column imported boolean not null default false`.execute(db)
}
