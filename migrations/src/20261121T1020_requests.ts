import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create sequence request_ids as bigint`.execute(db)

  // The primary key is the only index that a capture writes: partial indexes below skip visible rows.
  await sql`
    create table requests (
      endpoint_id uuid not null,
      id bigint not null,
      received_at timestamptz not null,
      method text not null,
      path text not null,
      query_string text,
      -- The header fields in wire order: names joined by LF, values (raw bytes) joined by LF.
      header_names text not null,
      header_values bytea not null,
      content_type text,
      size_bytes bigint not null,
      ip text,
      user_agent text,
      label text,
      body bytea not null,
      body_truncated boolean not null,
      body_is_binary boolean not null,
      body_preview text,
      verdict text,
      verdict_note text,
      -- What the capture decided: NotAttempted, Skipped, or Pending (deliveries were queued).
      dispatch_state text not null,
      -- In the recycle bin since.
      deleted_at timestamptz,
      -- Evicted or deleted for good, kept only until its queued deliveries have ended.
      hidden_at timestamptz,
      primary key (endpoint_id, id)
    )`.execute(db)
  // Some builds of PostgreSQL, such as the embedded one, have no lz4. They keep pglz, which is slower.
  await sql`
    do $$ begin
      alter table requests alter column body set compression lz4;
    exception when feature_not_supported then null;
    end $$`.execute(db)
  await sql`
    create index requests_binned on requests (endpoint_id, deleted_at) where deleted_at is not null`.execute(
    db,
  )
  await sql`create index requests_binned_by_id on requests (id) where deleted_at is not null`.execute(db)
  await sql`
    create index requests_hidden on requests (endpoint_id, id) where hidden_at is not null`.execute(db)

  // The text of a body for search. It is cut at a character boundary, since a prefix of UTF-8 may end inside a
  // character.
  await sql`
    create function body_text_prefix(body bytea, max_bytes integer) returns text
    language plpgsql immutable parallel safe as $$
    declare
      cut integer := least(octet_length(body), max_bytes);
      at integer;
      lead integer;
    begin
      if cut = 0 then return ''; end if;
      at := cut - 1;
      while at > 0 and at > cut - 4 and (get_byte(body, at) & 192) = 128 loop
        at := at - 1;
      end loop;
      lead := get_byte(body, at);
      if at + (case when lead >= 240 then 4 when lead >= 224 then 3 when lead >= 192 then 2 else 1 end) > cut then
        cut := at;
      end if;
      return convert_from(substring(body from 1 for cut), 'UTF8');
    end $$`.execute(db)
}
