import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // Whether a forward appends the captured path suffix, and the captured query, to the URL of its action.
  await sql`
    alter table actions
      add column append_path boolean not null default false,
      add column append_query boolean not null default false`.execute(db)
}
