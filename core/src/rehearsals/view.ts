import type { z } from 'zod'
import type { Db } from '../platform/db/index.ts'
import { storedOptions } from './options.ts'
import { countItems, type ItemCounts, type ReplayRow } from './queries.ts'
import type { ReplayRun } from './schema.ts'

const NONE = {
  waiting: 0,
  done: 0,
  errored: 0,
  equal: 0,
  changed: 0,
  failed: 0,
  slower: 0,
  uncompared: 0,
  firsts: 0,
}

/** Converts a row with its counts to the API's shape. */
export function replayView(row: ReplayRow, counts: ItemCounts | undefined): z.input<typeof ReplayRun> {
  const { to, order, sign, concurrency, compare } = storedOptions(row.options)
  const { waiting, done, errored, equal, changed, failed, slower, uncompared, firsts } = counts ?? NONE
  return {
    id: row.id,
    endpointId: row.endpointId,
    state: row.state,
    reason: row.reason,
    to,
    order,
    sign,
    seed: row.seed,
    concurrency,
    compare: compare ?? null,
    counts: {
      requests: row.requestCount,
      dropped: row.droppedCount,
      sends: row.sendCount,
      waiting,
      done,
      errored,
      equal,
      changed,
      failed,
      slower,
      // The first answer of a pair is the baseline of the second.
      uncompared: compare === undefined ? 0 : compare.with === 'first' ? uncompared - firsts : uncompared,
    },
    plannedMs: row.plannedMs,
    createdAt: row.createdAt,
    startedAt: row.startedAt,
    finishedAt: row.finishedAt,
  }
}

/** The API's shape of a replay, with its counts of now. */
export async function readView(db: Db, row: ReplayRow): Promise<z.input<typeof ReplayRun>> {
  return replayView(row, (await countItems(db, [row.id])).get(row.id))
}
