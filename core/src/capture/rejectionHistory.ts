import type { Services } from '../api/services.ts'
import { encodeArray, INT4, run, statement, UUID } from '../platform/db/index.ts'

/** Captures that are not stored: `rejected` for the rate of their endpoint, or `discarded` as duplicates. */
export interface UnstoredCounts {
  readonly rejected?: number
  readonly discarded?: number
}

/** Records for each minute how many captures were not stored. */
export interface RejectionHistory {
  /** Adds counts. All endpoints together cost one statement a second. */
  note(endpointId: string, counts: UnstoredCounts): void
  /** Flushes the counts in memory. */
  close(): Promise<void>
}

/** Interval of flushes. A crash loses this much of the history; the total of the endpoint is exact. */
const FLUSH_MS = 1_000

/**
 * Adds counts: `$1` endpoints, `$2` what each rejected, `$3` what each discarded, `$4` now. Writes in id order, so that
 * two processes never deadlock.
 */
const ADD = statement(
  'add rejections',
  `insert into rejection_minutes as m (endpoint_id, minute, rejected_count, discarded_count)
  select e.id, date_trunc('minute', $4::timestamptz), r.rejected, r.discarded
  from unnest($1::uuid[], $2::integer[], $3::integer[]) as r (endpoint_id, rejected, discarded)
  join endpoints e on e.id = r.endpoint_id
  order by e.id
  on conflict (endpoint_id, minute) do update set
    rejected_count = m.rejected_count + excluded.rejected_count,
    discarded_count = m.discarded_count + excluded.discarded_count`,
)

/** Makes the history of a process. Its counts are in memory until the next flush. */
export function createRejectionHistory({
  db,
  clock,
  log,
}: Pick<Services, 'db' | 'clock' | 'log'>): RejectionHistory {
  let waiting = new Map<string, Required<UnstoredCounts>>()
  let timer: NodeJS.Timeout | undefined

  const flush = async () => {
    timer = undefined
    const counts = [...waiting]
    waiting = new Map()
    if (counts.length === 0) return
    try {
      await run(db, ADD, [
        encodeArray(UUID, counts, ([endpointId]) => endpointId),
        encodeArray(INT4, counts, ([, { rejected }]) => rejected),
        encodeArray(INT4, counts, ([, { discarded }]) => discarded),
        clock.now(),
      ])
    } catch (error) {
      log.debug({ err: error }, 'the minute of captures that are not stored could not be written down')
    }
  }

  return {
    note(endpointId, { rejected = 0, discarded = 0 }) {
      const known = waiting.get(endpointId)
      waiting.set(endpointId, {
        rejected: (known?.rejected ?? 0) + rejected,
        discarded: (known?.discarded ?? 0) + discarded,
      })
      timer ??= setTimeout(() => void flush(), FLUSH_MS)
    },
    async close() {
      clearTimeout(timer)
      await flush()
    },
  }
}
