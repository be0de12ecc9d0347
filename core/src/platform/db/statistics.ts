import { sql } from 'kysely'
import type { Db } from './handles.ts'

/** Tables that captures and deliveries fill, by thousands of rows a second. */
const FAST_GROWING = ['requests', 'deliveries', 'delivery_attempts'] as const
/** A table has outgrown its statistics beyond so many pages, and so many times the pages that they know of. */
const OUTGROWN = { pages: 8, times: 4 } as const

/**
 * Analyses the tables that have grown many times over since PostgreSQL last looked at them, so that no connection goes on
 * with a plan that it made while a table was all but empty. Autovacuum does the same, up to a minute later.
 *
 * Costs a look at three file sizes where nothing has grown. A table that somebody else holds is left to the next call.
 */
export async function analyzeOutgrown(db: Db): Promise<void> {
  const { rows } = await sql<{ name: (typeof FAST_GROWING)[number] }>`
    select relname as name from pg_class
    where oid = any (${[...FAST_GROWING]}::text[]::regclass[])
      and pg_relation_size(oid) / current_setting('block_size')::int > ${OUTGROWN.pages} + ${OUTGROWN.times} * relpages
  `.execute(db)
  for (const { name } of rows) await sql`analyze (skip_locked) ${sql.table(name)}`.execute(db)
}
