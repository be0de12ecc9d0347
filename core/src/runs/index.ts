import { randomUUID } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type { z } from 'zod'
import { DomainError } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import type { Trx } from '../platform/db/index.ts'
import { NO_PAYLOAD, type Queue, queue } from '../platform/queues.ts'
import { lockWorkspace } from '../workspaces/index.ts'

/**
 * A table of runs: work of seconds to hours that jobs do in slices, each under a lease. A run is `queued`, `running` or
 * `paused`, and ends as `done`, `failed` or `cancelled`.
 */
export interface Runs<Payload extends object> {
  readonly table: 'replays' | 'reconciliations' | 'erasures'
  readonly queue: Queue<Payload>
  readonly payloadOf: (id: string) => Payload
  /** Longer than any step. When it ends, the run has lost its process. */
  readonly leaseMs: number
  /** Runs of a workspace that have not ended, and the refusal of more. */
  readonly unfinishedMax: number
  readonly refusal: string
  /** Ended runs that are kept, of each workspace or of each endpoint. */
  readonly endedKept?: { readonly of: 'workspace_id' | 'endpoint_id'; readonly count: number }
}

type RunServices = Pick<Services, 'db' | 'clock' | 'enqueue'>

/** The columns of a run that its jobs use. */
interface Run {
  readonly id: string
  readonly workspaceId: string
  readonly state: string
  readonly leaseId: string | null
  readonly dueAt: Date
  readonly startedAt: Date | null
}

export interface HeldRun {
  readonly id: string
  readonly leaseId: string
}

/** `Retry-After` while too many runs are unfinished. */
const RETRY_AFTER_SECONDS = 30
/** A run without a job for this time has lost it, in milliseconds. */
const LOST_AFTER_MS = 60_000
const UNFINISHED = sql<boolean>`state in ('queued', 'running', 'paused')`

/**
 * Makes room for a new run: locks the workspace, and deletes the oldest ended runs beyond those that are kept.
 *
 * @param by `owner` of the ended runs: a workspace or an endpoint; `among` which runs are counted: all by default
 * @throws DomainError `rate_limited` while too many runs of the workspace are unfinished
 */
export async function admitRun(
  trx: Trx,
  {
    table,
    unfinishedMax,
    refusal,
    endedKept,
  }: Pick<Runs<object>, 'table' | 'unfinishedMax' | 'refusal' | 'endedKept'>,
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

/** Locks a run, whatever its state; undefined when it is gone. */
export async function lockRun<Row>(
  trx: Trx,
  { table }: Pick<Runs<object>, 'table'>,
  id: string,
): Promise<Row | undefined> {
  const { rows } = await sql<Row>`select * from ${sql.table(table)} where id = ${id} for update`.execute(trx)
  return rows[0]
}

/**
 * Claims a run for one job.
 *
 * @param mayStart whether a queued run may begin; one that may not is woken by a run that ends
 * @returns undefined when there is nothing to do now
 */
export async function claimRun<Row extends Run, Payload extends object>(
  { clock, enqueue }: Omit<RunServices, 'db'>,
  trx: Trx,
  runs: Runs<Payload>,
  { id, workspaceId }: Pick<Run, 'id' | 'workspaceId'>,
  mayStart: (row: Row) => Promise<boolean>,
): Promise<(Row & HeldRun) | undefined> {
  await lockWorkspace(trx, workspaceId)
  const row = await lockRun<Row>(trx, runs, id)
  if (row === undefined || (row.state !== 'queued' && row.state !== 'running')) return undefined
  const now = clock.now()
  if (row.leaseId !== null && row.dueAt > now) {
    await enqueue(trx, runs.queue, [{ payload: runs.payloadOf(id), startAfter: row.dueAt }])
    return undefined
  }
  if (row.state === 'queued' && !(await mayStart(row))) return undefined
  const changes = {
    state: 'running',
    startedAt: row.startedAt ?? now,
    leaseId: randomUUID(),
    dueAt: new Date(now.getTime() + runs.leaseMs),
  }
  await sql`
    update ${sql.table(runs.table)} set state = ${changes.state}, started_at = ${changes.startedAt},
      lease_id = ${changes.leaseId}, due_at = ${changes.dueAt} where id = ${id}`.execute(trx)
  return { ...row, ...changes }
}

/** Extends the lease of a run, while its job has it. */
export async function renewRun(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { table, leaseMs }: Pick<Runs<object>, 'table' | 'leaseMs'>,
  { id, leaseId }: HeldRun,
): Promise<void> {
  await sql`
    update ${sql.table(table)} set due_at = ${new Date(clock.now().getTime() + leaseMs)}
    where id = ${id} and lease_id = ${leaseId}`.execute(db)
}

/**
 * Calls a function with the locked run, if the job still holds it and it runs. A run that was paused or cancelled only
 * loses its lease; one that was resumed meanwhile gets its job.
 */
export async function heldRun<Row extends Run, Payload extends object>(
  { db, enqueue }: Pick<Services, 'db' | 'enqueue'>,
  runs: Runs<Payload>,
  { id, leaseId, workspaceId }: HeldRun & Pick<Run, 'workspaceId'>,
  work: (trx: Trx, row: Row) => Promise<void>,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockWorkspace(trx, workspaceId)
    const row = await lockRun<Row>(trx, runs, id)
    if (row?.leaseId !== leaseId) return
    if (row.state === 'running') return await work(trx, row)
    await sql`update ${sql.table(runs.table)} set lease_id = null where id = ${id}`.execute(trx)
    if (row.state === 'queued') await enqueue(trx, runs.queue, [{ payload: runs.payloadOf(id) }])
  })
}

/** Releases a run that its job holds, and queues the next job. */
export async function releaseRun<Payload extends object>(
  services: RunServices,
  runs: Runs<Payload>,
  held: HeldRun & Pick<Run, 'workspaceId'>,
  waitMs: number,
): Promise<void> {
  await heldRun(services, runs, held, async (trx) => {
    const dueAt = new Date(services.clock.now().getTime() + waitMs)
    await sql`
      update ${sql.table(runs.table)} set lease_id = null, due_at = ${dueAt} where id = ${held.id}`.execute(
      trx,
    )
    const job = { payload: runs.payloadOf(held.id) }
    await services.enqueue(trx, runs.queue, [waitMs > 0 ? { ...job, startAfter: dueAt } : job])
  })
}

/** Queues jobs for the oldest queued runs of a workspace. Each checks whether it may start. */
export async function wakeQueued<Payload extends object>(
  trx: Trx,
  { enqueue }: Pick<Services, 'enqueue'>,
  { table, queue, payloadOf }: Runs<Payload>,
  {
    workspaceId,
    limit,
    where = sql<boolean>`true`,
  }: { workspaceId: string; limit: number; where?: RawBuilder<boolean> },
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(table)} where workspace_id = ${workspaceId} and state = 'queued' and ${where}
    order by created_at limit ${limit}`.execute(trx)
  await enqueue(
    trx,
    queue,
    rows.map(({ id }) => ({ payload: payloadOf(id) })),
  )
}

/** Queues a job for each run that lost its own. */
export async function requeueLost<Payload extends object>(
  { db, clock, enqueue }: RunServices,
  { table, queue, payloadOf }: Runs<Payload>,
  lostAfterMs = LOST_AFTER_MS,
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
  const sweep = queue({
    name: `${noun}.sweep`,
    payload: NO_PAYLOAD,
    options: { policy: 'singleton', retryLimit: 0, expireInSeconds: 300, deleteAfterSeconds: 3600 },
    cron: '* * * * *',
  })
  return [runs, sweep]
}
