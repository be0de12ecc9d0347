import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Services } from '../api/services.ts'
import { planOf, retentionMs } from '../plans/index.ts'
import { type Db, type Failures, run, statement, type Trx } from '../platform/db/index.ts'

export interface EndpointToSweep {
  readonly endpointId: string
  /** Older requests and attempts are past the plan's retention. */
  readonly keptSince: Date
  readonly storedRequestsMax: number
  readonly hasClaims: boolean
}

const PAGE = 1000

/** Every existing endpoint, with the current limits of its workspace's plan. Reads page by page. */
export async function* endpointsToSweep({
  db,
  plans,
  clock,
}: SweepServices): AsyncGenerator<EndpointToSweep> {
  let after = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const rows = await run(db, PAGE_OF, [after])
    for (const row of rows) {
      const { limits } = planOf(plans, row.plan)
      const keptSince = new Date(clock.now().getTime() - retentionMs(limits))
      const { storedRequestsMax } = limits
      yield { endpointId: row.id, keptSince, storedRequestsMax, hasClaims: row.hasClaims }
      after = row.id
    }
    if (rows.length < PAGE) return
  }
}

const PAGE_OF = statement(
  'page of endpoints to sweep',
  `select e.id, w.plan, c.claim_count > 0 as has_claims
  from endpoints e join workspaces w on w.id = e.workspace_id join endpoint_counters c on c.endpoint_id = e.id
  where e.id > $1 and e.deleted_at is null
  order by e.id limit ${PAGE}`,
  { isPrepared: false },
)

export type SweepServices = Pick<Services, 'db' | 'clock' | 'plans' | 'enqueue'>

/** Rows that one transaction of a sweep deletes. It takes few milliseconds, because captures wait for its locks. */
export const BATCH_ROWS = 200

const REST_MS = { min: 2, max: 500 } as const

/**
 * Runs a sweep's batches until one finds nothing more. After each it pauses twice as long as the batch took, so that a
 * sweep uses at most a third of the time. Stopping between two batches loses nothing.
 *
 * @param batch one short transaction; returns whether there is more
 */
export async function inBatches(signal: AbortSignal, batch: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted) {
    const started = performance.now()
    if (!(await batch())) return
    const took = performance.now() - started
    await sleep(Math.min(Math.max(2 * took, REST_MS.min), REST_MS.max))
  }
}

/** Time after which a sweep goes on with the next one, in milliseconds. */
const TURN_MS = 5_000

export const turnOf = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(TURN_MS)])

/** Sweeps all in turns, until none has more. One that fails ends no others. */
export async function inTurns<One>(
  { signal, failures }: { readonly signal: AbortSignal; readonly failures: Failures },
  all: () => AsyncIterable<One>,
  sweep: (one: One, turn: AbortSignal) => Promise<unknown>,
): Promise<void> {
  for (let isMore = true; isMore; ) {
    isMore = false
    for await (const one of all()) {
      const turn = turnOf(signal)
      await failures.unless(() => sweep(one, turn))
      if (signal.aborted) return
      isMore ||= turn.aborted
    }
  }
}

/** An eviction from a workspace, or from all. Endpoints of which nothing could be evicted are left out for its rest. */
export interface Eviction extends SweepServices {
  readonly workspaceId: string | null
  readonly failures: Failures
  readonly failed: Set<string>
}

/**
 * Evicts rows in a transaction for each endpoint. If none of them could be evicted, it goes on with the next rows.
 *
 * @param find its statement has the parameters `of`: the workspace, and the endpoints that are left out
 * @returns the number of evicted rows; 0 if there are none left
 */
export async function evictEach<Row extends { readonly endpointId: string }>(
  { db, workspaceId, failures, failed }: Eviction,
  find: (of: readonly unknown[]) => Promise<readonly Row[]>,
  evict: (trx: Trx, endpointId: string, rows: readonly Row[]) => Promise<void>,
): Promise<number> {
  for (;;) {
    const rows = await find([workspaceId, [...failed]])
    let count = 0
    for (const [endpointId, of] of Map.groupBy(rows, (row) => row.endpointId)) {
      failed.add(endpointId)
      await failures.unless(async () => {
        await sweepTransaction(db, (trx) => evict(trx, endpointId, of))
        failed.delete(endpointId)
        count += of.length
      })
    }
    if (count > 0 || rows.length === 0) return count
  }
}

/**
 * Runs a batch's transaction. It does not wait for the disk while it holds its locks: a batch that a crash undoes is
 * found again by the next sweep.
 */
export async function sweepTransaction<Result>(db: Db, work: (trx: Trx) => Promise<Result>): Promise<Result> {
  return await db.transaction().execute(async (trx) => {
    await sql`set local synchronous_commit = off`.execute(trx)
    return await work(trx)
  })
}
