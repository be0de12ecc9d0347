import { type Kysely, sql } from 'kysely'

/** Adds the text of bodies that arrived encoded, which searches read. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table requests add column decoded_text text`.execute(db)
}
