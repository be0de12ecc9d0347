import { QUEUES } from '@creel/core'
import type { PgBoss } from 'pg-boss'

export interface QueueLoad {
  readonly queue: string
  /** Due jobs that no worker has taken. */
  readonly depth: number
  /** Age of the oldest due job; 0 when there is none. */
  readonly lagSeconds: number
}

/**
 * Checks that the queue's tables can be read.
 *
 * @throws errors of the database
 */
export async function checkQueue(boss: PgBoss): Promise<void> {
  await boss.getDb().executeSql('select version from pgboss.version')
}

/**
 * Reads the load of every queue, also of empty ones. Jobs of queues that former versions had are never taken, and do not
 * count.
 *
 * Unlike pg-boss' own statistics it reads due jobs only, through the fetch index, and not the finished ones that are
 * kept for a while.
 */
export async function readQueueLoad(boss: PgBoss): Promise<QueueLoad[]> {
  const { rows } = await boss.getDb().executeSql(`
    select q.name as queue, coalesce(due.depth, 0) as depth, coalesce(due.lag_seconds, 0) as lag_seconds
    from pgboss.queue q
    left join (
      select name,
             count(*)::int as depth,
             greatest(0, extract(epoch from pgboss.job_now() - min(start_after)))::float8 as lag_seconds
      from pgboss.job where state < 'active' and start_after <= pgboss.job_now() group by name
    ) due on due.name = q.name
    order by q.name`)
  const known = new Set(QUEUES.map(({ name }) => name))
  const ofKnown = rows.filter(({ queue }) => known.has(String(queue)))
  return ofKnown.map((row) => ({
    queue: String(row.queue),
    depth: Number(row.depth),
    lagSeconds: Number(row.lag_seconds),
  }))
}
