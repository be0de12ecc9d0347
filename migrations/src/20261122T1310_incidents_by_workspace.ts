import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index incidents_by_workspace on incidents (workspace_id, opened_at desc, id desc)`.execute(
    db,
  )
}
