import { type RawBuilder, sql } from 'kysely'
import type { z } from 'zod'
import { DomainError } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import type { Trx } from '../platform/db/index.ts'
import { type Queue, queue, sweepQueue } from '../platform/queues.ts'
import { lockWorkspace } from '../workspaces/index.ts'

/**
 * A table of runs: work of seconds to hours that is done in slices, each under a lease. A run is `queued`, `running` or
 * `paused`, and ends as `done`, `failed` or `cancelled`.
 */
export interface Runs<Payload extends object> {
  readonly table: 'replays' | 'reconciliations' | 'erasures'
  readonly queue: Queue<Payload>
  readonly payloadOf: (id: string) => Payload
  /** Runs of a workspace that have not ended, and the refusal of more. */
  readonly unfinishedMax: number
  readonly refusal: string
  /** Ended runs that are kept, of each workspace or of each endpoint. */
  readonly endedKept?: { readonly of: 'workspace_id' | 'endpoint_id'; readonly count: number }
}

/** `Retry-After` while too many runs are unfinished. */
const RETRY_AFTER_SECONDS = 30
const UNFINISHED = sql<boolean>`state in ('queued', 'running', 'paused')`

/**
 * Makes room for a new run: locks the workspace, and deletes the oldest ended runs beyond those that are kept.
 *
 * @param by `owner` of the ended runs: a workspace or an endpoint; `among` which runs are counted: all by default
 * @throws DomainError `rate_limited` while too many runs of the workspace are unfinished
 */
export async function admitRun(
  trx: Trx,
  { table, unfinishedMax, refusal, endedKept }: Omit<Runs<object>, 'queue' | 'payloadOf'>,
  {
    workspaceId,
    owner,
    among = sql<boolean>`true`,
  }: { readonly workspaceId: string; readonly owner: string; readonly among?: RawBuilder<boolean> },
): Promise<void> {
  await lockWorkspace(trx, workspaceId)
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from ${sql.table(table)} where workspace_id = ${workspaceId}
      and ${UNFINISHED} and ${among}`.execute(trx)
  if ((rows[0]?.count ?? 0) >= unfinishedMax)
    throw new DomainError('rate_limited', refusal, { retryAfterSeconds: RETRY_AFTER_SECONDS })
  if (endedKept === undefined) return
  await sql`
    delete from ${sql.table(table)} where id in (
      select id from ${sql.table(table)} where ${sql.ref(endedKept.of)} = ${owner} and not ${UNFINISHED} and ${among}
      order by created_at desc, id desc offset ${endedKept.count - 1})`.execute(trx)
}

/** Queues a job for each run that is overdue by `lostAfterMs`: it has lost its own. */
export async function requeueLost<Payload extends object>(
  { db, clock, enqueue }: Pick<Services, 'db' | 'clock' | 'enqueue'>,
  { table, queue, payloadOf }: Runs<Payload>,
  lostAfterMs: number,
): Promise<void> {
  const now = clock.now()
  await db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ id: string }>`
      update ${sql.table(table)} set due_at = ${now}
      where state in ('queued', 'running') and due_at <= ${new Date(now.getTime() - lostAfterMs)}
      returning id`.execute(trx)
    await enqueue(
      trx,
      queue,
      rows.map(({ id }) => ({ payload: payloadOf(id) })),
    )
  })
}

/**
 * The queues of a noun's runs. A job works on one run for some seconds, then queues the next one and makes room for
 * others. A run has a lease, so a second job of it does nothing. The queue's own retries are for a worker that died.
 * The sweep queues a job for runs that lost theirs; it is a singleton, and safe to interrupt.
 *
 * @param noun of the names of the queues, which never change
 */
export function runQueues<Payload>(
  noun: string,
  payload: z.ZodType<Payload>,
  {
    expireInSeconds,
    ...rest
  }: Pick<Queue, 'batches' | 'batchSize' | 'pollSeconds' | 'calls'> & { readonly expireInSeconds: number },
): readonly [runs: Queue<Payload>, sweep: Queue] {
  const runs = queue({
    name: `${noun}.run`,
    payload,
    options: {
      policy: 'standard',
      retryLimit: 1000,
      expireInSeconds,
      heartbeatSeconds: 10,
      notify: true,
      deleteAfterSeconds: 600,
    },
    ...rest,
  })
  return [runs, sweepQueue(`${noun}.sweep`, 300)]
}
