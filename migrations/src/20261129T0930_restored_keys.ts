import { type Kysely, sql } from 'kysely'

/** Keys of sealed captures can be restored from a dump of their own: `pg_restore` has no search path. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function count_endpoint_revision() returns trigger language plpgsql as $$
    begin
      update public.endpoint_revisions set revision = revision + 1
      where endpoint_id = (to_jsonb(coalesce(new, old)) ->> tg_argv[0])::uuid;
      return null;
    end $$`.execute(db)
}
