import { type Kysely, sql } from 'kysely'

/** Captures whose content is sealed with a data key of their endpoint, and everything that repeats it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table endpoints add column encrypt_bodies boolean not null default false`.execute(db)
  // Endpoints whose earlier requests are being sealed: all up to this id are.
  await sql`
    create table sealings (
      endpoint_id uuid primary key references endpoints on delete cascade,
      sealed_to_id bigint not null default 0,
      -- The least id below that is looked at again: it was sealed, or left out while attempts of it were under way or due.
      left_from_id bigint
    )`.execute(db)
  await sql`
    create table creel_keys.endpoint_keys (
      id uuid primary key,
      workspace_id uuid not null,
      endpoint_id uuid not null unique,
      -- Sealed with the key of the installation.
      data_key bytea not null,
      created_at timestamptz not null default now()
    )`.execute(db)
  // The workspace, which the sealed key is bound to, and the sealed key. Null for a key that is gone.
  await sql`
    create function creel_keys.data_key(key_id uuid) returns bytea language sql stable strict as $$
      select uuid_send(k.workspace_id) || k.data_key from creel_keys.endpoint_keys k where k.id = key_id
    $$`.execute(db)
  // Captures are sealed under cached settings, so a key counts as one of the settings.
  await sql`
    create constraint trigger count_revision after insert or delete on creel_keys.endpoint_keys
    deferrable initially deferred for each row execute function count_endpoint_revision('endpoint_id')`.execute(
    db,
  )
  // A deleted endpoint is gone at once, its rows some minutes later. Keys of originals may be many: the program deletes
  // them in pieces.
  await sql`
    create function creel_keys.forget_data_key() returns trigger language plpgsql as $$
    begin
      delete from creel_keys.endpoint_keys where endpoint_id = old.id;
      if tg_op = 'DELETE' then
        delete from creel_keys.original_keys where endpoint_id = old.id;
      end if;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger forget_data_key after update of deleted_at on endpoints
    for each row when (new.deleted_at is not null) execute function creel_keys.forget_data_key()`.execute(db)
  await sql`
    create trigger forget_data_key_of_deleted after delete on endpoints
    for each row execute function creel_keys.forget_data_key();
    -- Messages in plain of an endpoint, which are sealed in the background.
    create index alerts_unsealed on alerts (endpoint_id) where event_kind = 'action.notify' and reason is not null`.execute(
    db,
  )
  // `sealed_with`: the id of the data key, which may be gone. `sealed`: the members of the row that it sealed.
  for (const table of ['requests', 'attempt_details', 'alerts', 'replay_items', 'event_deliveries']) {
    await sql`alter table ${sql.table(table)} add column sealed_with uuid, add column sealed bytea`.execute(
      db,
    )
  }
}
