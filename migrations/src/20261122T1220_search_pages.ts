import { type Kysely, sql } from 'kysely'

/** Signatures of stored requests, by which a search for a text skips requests without it. All rows are derived. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table search_pages (
      id bigint generated always as identity primary key,
      -- Null for a page that is no longer used: it is deleted later, with its slices.
      endpoint_id uuid references endpoints on delete set null,
      -- The first block begins above this id, and the last one ends with the other.
      above bigint not null,
      top bigint not null,
      block_count integer not null check (block_count in (32, 512)),
      request_count integer not null,
      -- The greatest id of each block. An empty block has that of the one before.
      tops bigint[] not null,
      unique (endpoint_id, above)
    );
    -- What the job that makes pages knows of an endpoint.
    create table search_progress (
      endpoint_id uuid primary key references endpoints on delete cascade,
      -- How often stored texts were erased or sealed: a page of what was read before is not used.
      forgotten_count bigint not null default 0,
      -- Requests that were stored or evicted at the last look; null: the next is due.
      looked_at_count bigint,
      -- Requests without a page at the last look, as far as they fill one.
      left_count integer not null default 0
    );
    create table search_slices (
      -- No reference, which would be checked for each of the 1,024 or 16,384 slices of a page.
      page_id bigint not null,
      slice integer not null,
      -- 256 or 16 slots, each with a bit for every block.
      bits bytea not null,
      primary key (page_id, slice)
    );
    -- Never compressed or stored elsewhere: reading one slot reads one row.
    alter table search_slices alter column bits set storage plain`.execute(db)
}
