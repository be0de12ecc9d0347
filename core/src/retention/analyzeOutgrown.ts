import { sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'

/** Tables that captures and deliveries fill by thousands of rows a second. */
const FAST_GROWING = ['requests', 'deliveries', 'delivery_attempts'] as const
/** A table has outgrown its statistics when it has more than 8 pages plus 4 times the pages in the statistics. */
const OUTGROWN = { pages: 8, times: 4 } as const

/**
 * Analyses the tables that have grown several times over since their last analysis, so that no connection keeps a plan
 * from when a table was almost empty. Autovacuum does the same, up to a minute later.
 *
 * If no table has grown, it only reads three file sizes. A locked table is skipped until the next call.
 */
export async function analyzeOutgrown(db: Db): Promise<void> {
  const { rows } = await sql<{ name: (typeof FAST_GROWING)[number] }>`
    select relname as name from pg_class
    where oid = any (${[...FAST_GROWING]}::text[]::regclass[])
      and pg_relation_size(oid) / current_setting('block_size')::int > ${OUTGROWN.pages} + ${OUTGROWN.times} * relpages
  `.execute(db)
  for (const { name } of rows) await sql`analyze (skip_locked) ${sql.table(name)}`.execute(db)
}
