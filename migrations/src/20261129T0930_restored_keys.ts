import { type Kysely, sql } from 'kysely'

/**
 * Keys of sealed captures can be restored from a dump of their own. `pg_restore` runs without a search path, so the
 * function has the one of this migration.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function count_endpoint_revision() returns trigger language plpgsql set search_path from current as $$
    begin
      update endpoint_revisions set revision = revision + 1
      where endpoint_id = (to_jsonb(coalesce(new, old)) ->> tg_argv[0])::uuid;
      return null;
    end $$`.execute(db)
}
