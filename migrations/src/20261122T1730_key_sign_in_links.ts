import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // Null: the link signs in as the workspace's owner. Else it signs in as the key, for as long as the key is valid.
  await sql`alter table sign_in_links add column api_key_id uuid references api_keys on delete cascade`.execute(
    db,
  )
  await sql`create index sign_in_links_by_api_key on sign_in_links (api_key_id)`.execute(db)
}
