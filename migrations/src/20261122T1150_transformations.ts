import { type Kysely, sql } from 'kysely'

/** Rules that hold the deliveries of their action. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    -- The service switched off a rule that removes data: deliveries wait until a user decides.
    alter table transformation_rules add column holds_deliveries boolean not null default false;
    update transformation_rules set
      holds_deliveries = true,
      disabled_reason = disabled_reason ||
        ' Deliveries of its action are held until you enable, edit, delete or switch off this rule.'
    where not enabled and disabled_reason is not null
      and rule ~ '"op"\\s*:\\s*"(keep|remove|redact)"'`.execute(db)
}
