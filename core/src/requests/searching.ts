import type { AbortableQueryOptions } from 'kysely'
import type { Context } from '../api/context.ts'
import type { Db } from '../platform/db/index.ts'
import { Turns, WAIT_MS_MAX } from '../platform/turns/index.ts'

/**
 * The most searches of a workspace at once: half of the process's search connections, so that a second workspace has
 * some.
 */
const PER_WORKSPACE = 2

const turns = new Turns({ atOnce: PER_WORKSPACE, wait: { msMax: WAIT_MS_MAX, noun: 'searches' } })

/**
 * Runs a scan of stored requests without delaying other work: on the connections for searches, at most two at once for
 * a workspace in this process. PostgreSQL cancels it after `SEARCH_SECONDS`, and at once when the caller hangs up.
 *
 * @param kind label of scans that take about the same time, e.g. those of one endpoint for a text
 * @param scan must pass `options` to every query that it executes
 * @throws LineTooLong when the wait behind other searches of the workspace is over ten seconds; errors of the scan
 */
export async function searching<Result>(
  ctx: Pick<Context, 'reads' | 'signal' | 'workspace'>,
  kind: string,
  scan: (db: Db, options: AbortableQueryOptions) => Promise<Result>,
): Promise<Result> {
  const { signal } = ctx
  const options: AbortableQueryOptions = { signal, inflightQueryAbortStrategy: 'cancel query' }
  const run = () => ctx.reads.run(({ searches }) => scan(searches, options))
  return await turns.run(ctx.workspace.id, run, { kind, signal })
}
