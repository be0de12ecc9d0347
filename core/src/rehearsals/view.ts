import type { z } from 'zod'
import type { Db } from '../platform/db/index.ts'
import { storedOptions } from './options.ts'
import { countItems, type ItemCounts, type RunRow } from './queries.ts'
import type { ReplayRun } from './schema.ts'

/** Converts a row to the API's shape, with the counts of its sends, which {@link countItems} gives for every replay. */
export function runView(row: RunRow, allCounts: ReadonlyMap<string, ItemCounts>): z.input<typeof ReplayRun> {
  const counted = allCounts.get(row.id)
  if (counted === undefined) throw new Error(`The sends of the replay ${row.id} were not counted.`)
  const { compare, ...options } = storedOptions(row.options)
  const { uncompared, firsts, ...counts } = counted
  // The first answer of a pair is the baseline of the second.
  const missing = compare?.with === 'first' ? uncompared - firsts : uncompared
  return {
    ...row,
    ...options,
    compare: compare ?? null,
    counts: {
      requests: row.requestCount,
      dropped: row.droppedCount,
      sends: row.sendCount,
      ...counts,
      uncompared: compare === undefined ? 0 : missing,
    },
  }
}

/** The API's shape of a replay, with its counts of now. */
export async function readView(db: Db, row: RunRow): Promise<z.input<typeof ReplayRun>> {
  return runView(row, await countItems(db, [row.id]))
}
