import type { AbortableQueryOptions } from 'kysely'
import type { Context } from '../api/context.ts'
import { DomainError } from '../api/errors.ts'
import type { Db } from '../platform/db/index.ts'
import { Turns } from '../platform/turns/index.ts'

/** Half of the process's search connections: a second workspace always finds one. */
const PER_WORKSPACE = 2
/** A batch of twenty searches may wait; a flood may not. */
const WAITING_MAX = 20

const turns = new Turns({
  atOnce: PER_WORKSPACE,
  waitingMax: WAITING_MAX,
  refusal: () =>
    new DomainError('rate_limited', 'Too many searches of this workspace wait already.', {
      retryAfterSeconds: 1,
    }),
})

/**
 * Runs a scan of stored requests so that it can hurt nobody: on the connections for searches, at most two at once for a
 * workspace in this process. PostgreSQL ends it after `SEARCH_SECONDS`, and at once when the caller hangs up.
 *
 * @param scan must hand `options` to every query that it executes
 * @throws DomainError `rate_limited` when too many searches of the workspace wait already; `unavailable` when the scan
 *   took too long
 */
export async function searching<Result>(
  ctx: Pick<Context, 'reads' | 'signal' | 'workspace'>,
  scan: (db: Db, options: AbortableQueryOptions) => Promise<Result>,
): Promise<Result> {
  const options: AbortableQueryOptions = { signal: ctx.signal, inflightQueryAbortStrategy: 'cancel query' }
  const run = () => ctx.reads.run(({ searches }) => scan(searches, options))
  return await turns.run(ctx.workspace.id, run, ctx.signal)
}
