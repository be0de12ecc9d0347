import { QUEUES } from '@creel/core'

export interface QueueState {
  readonly queue: string
  /** How often it runs by itself: `every 10 s`, or a cron line in UTC; null for a queue that only others fill. */
  readonly schedule: string | null
  /** Jobs that are due and not taken. */
  readonly due: number
  /** Jobs that are due later. */
  readonly later: number
  /** Jobs that a worker has taken. */
  readonly running: number
  /** Jobs that failed for good and are still kept. */
  readonly failed: number
  /** When the next job is due, or the oldest one was; null without any. */
  readonly nextAt: Date | null
}

/** Runs a statement without parameters on the database of the queues. */
export type RunSql = (statement: string) => Promise<readonly Readonly<Record<string, unknown>>[]>

/**
 * Counts the jobs of every queue, in the order of the names.
 *
 * It reads all kept jobs, so it is for a command and not for metrics: see `readQueueLoad`.
 *
 * @throws what the database says, for example where the queues were never created
 */
export async function readQueueStates(query: RunSql): Promise<QueueState[]> {
  const rows = await query(`
    select q.name as queue,
           count(*) filter (where j.state < 'active' and j.start_after <= pgboss.job_now())::int as due,
           count(*) filter (where j.state < 'active' and j.start_after > pgboss.job_now())::int as later,
           count(*) filter (where j.state = 'active')::int as running,
           count(*) filter (where j.state = 'failed')::int as failed,
           (extract(epoch from min(j.start_after) filter (where j.state < 'active')) * 1000)::float8 as next
    from pgboss.queue q left join pgboss.job j on j.name = q.name
    group by q.name order by q.name`)
  return rows.map((row) => ({
    queue: String(row.queue),
    schedule: scheduleOf(String(row.queue)),
    due: Number(row.due),
    later: Number(row.later),
    running: Number(row.running),
    failed: Number(row.failed),
    nextAt: row.next === null ? null : new Date(Number(row.next)),
  }))
}

function scheduleOf(queue: string): string | null {
  const known = QUEUES.find(({ name }) => name === queue)
  if (known?.everySeconds !== undefined) return `every ${known.everySeconds} s`
  return known?.cron ?? null
}
