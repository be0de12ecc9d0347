import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table transformation_rules (
      id uuid primary key,
      workspace_id uuid not null,
      endpoint_id uuid not null,
      action_id uuid not null references actions on delete cascade,
      position integer not null,
      name text not null,
      enabled boolean not null,
      disabled_reason text,
      version integer not null,
      -- JSON text of the version in force, key order and number spelling kept.
      rule text not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      unique (action_id, position) deferrable initially deferred
    )`.execute(db)
  await sql`create index transformation_rules_by_endpoint on transformation_rules (endpoint_id)`.execute(db)

  await sql`
    create table transformation_rule_versions (
      rule_id uuid not null references transformation_rules on delete cascade,
      version integer not null,
      rule text not null,
      created_at timestamptz not null,
      restored_from integer,
      primary key (rule_id, version)
    )`.execute(db)

  // The distinct requests on which a rule faulted since it last ran without a fault.
  await sql`
    create table rule_faults (
      rule_id uuid not null references transformation_rules on delete cascade,
      request_id bigint not null,
      faulted_at timestamptz not null,
      primary key (rule_id, request_id)
    )`.execute(db)
}
