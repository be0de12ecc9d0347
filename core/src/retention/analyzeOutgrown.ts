import { sql } from 'kysely'
import { type Db, run, statement } from '../platform/db/index.ts'

/** Tables that captures and deliveries fill by thousands of rows a second. */
const FAST_GROWING = ['requests', 'deliveries', 'delivery_attempts'] as const
/** A table has outgrown its statistics when it has more than 8 pages plus 4 times the pages in the statistics. */
const OUTGROWN = { pages: 8, times: 4 } as const

const FIND_OUTGROWN = statement(
  'find outgrown tables',
  `select relname as name from pg_class
  where oid = any ($1::text[]::regclass[])
    and pg_relation_size(oid) / current_setting('block_size')::int > ${OUTGROWN.pages} + ${OUTGROWN.times} * relpages`,
  { isPrepared: false },
)

/**
 * Analyses the tables that have grown several times over since their last analysis, so that no connection keeps a plan
 * from when a table was almost empty. Autovacuum does the same, up to a minute later.
 *
 * If no table has grown, it only reads three file sizes. A locked table is skipped until the next call.
 */
export async function analyzeOutgrown(db: Db): Promise<void> {
  const rows = await run(db, FIND_OUTGROWN, [[...FAST_GROWING]])
  for (const { name } of rows) await sql`analyze (skip_locked) ${sql.table(name)}`.execute(db)
}
