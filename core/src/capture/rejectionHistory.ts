import type { Services } from '../api/services.ts'
import { encodeArray, INT4, run, statement, UUID } from '../platform/db/index.ts'

/** Records for each minute how many captures were refused by the rate of their endpoint. */
export interface RejectionHistory {
  /** Adds refusals. All endpoints together cost one statement a second. */
  note(endpointId: string, count: number): void
  /** Flushes the counts in memory. */
  close(): Promise<void>
}

/** Interval of flushes. A crash loses this much of the history; the total of the endpoint is exact. */
const FLUSH_MS = 1_000

/**
 * Adds refusals: `$1` endpoints, `$2` their counts, `$3` now. Writes in id order, so that two processes never deadlock.
 */
const ADD = statement(
  'add rejections',
  `insert into rejection_minutes as m (endpoint_id, minute, rejected_count)
  select e.id, date_trunc('minute', $3::timestamptz), r.count
  from unnest($1::uuid[], $2::integer[]) as r (endpoint_id, count)
  join endpoints e on e.id = r.endpoint_id
  order by e.id
  on conflict (endpoint_id, minute) do update set rejected_count = m.rejected_count + excluded.rejected_count`,
)

/** Makes the history of a process. Its counts are in memory until the next flush. */
export function createRejectionHistory({
  db,
  clock,
  log,
}: Pick<Services, 'db' | 'clock' | 'log'>): RejectionHistory {
  let waiting = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined

  const flush = async () => {
    timer = undefined
    const counts = [...waiting]
    waiting = new Map()
    if (counts.length === 0) return
    try {
      await run(db, ADD, [
        encodeArray(UUID, counts, ([endpointId]) => endpointId),
        encodeArray(INT4, counts, ([, count]) => count),
        clock.now(),
      ])
    } catch (error) {
      log.debug({ err: error }, 'the minute of refused captures could not be written down')
    }
  }

  return {
    note(endpointId, count) {
      waiting.set(endpointId, (waiting.get(endpointId) ?? 0) + count)
      timer ??= setTimeout(() => void flush(), FLUSH_MS)
    },
    async close() {
      clearTimeout(timer)
      await flush()
    },
  }
}
