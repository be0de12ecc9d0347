import type { PgBoss } from 'pg-boss'

/** What waits in one queue. */
export interface QueueLoad {
  readonly queue: string
  /** Jobs that are due and that no worker has taken; those of deliveries count each attempt that they carry. */
  readonly depth: number
  /** How long the oldest of them has been due; 0 when there is none. */
  readonly lagSeconds: number
}

/** @throws what the database says when the queue's tables cannot be read */
export async function checkQueue(boss: PgBoss): Promise<void> {
  await boss.getDb().executeSql('select version from pgboss.version')
}

/**
 * What waits in every queue, the empty ones included.
 *
 * Unlike pg-boss' own statistics it looks at due jobs only, which its fetch index holds, and not at the ended ones
 * that are kept for a while.
 */
export async function readQueueLoad(boss: PgBoss): Promise<QueueLoad[]> {
  const { rows } = await boss.getDb().executeSql(`
    select q.name as queue, coalesce(due.depth, 0) as depth, coalesce(due.lag_seconds, 0) as lag_seconds
    from pgboss.queue q
    left join (
      select name,
             sum(case jsonb_typeof(data -> 'attempts') when 'array' then jsonb_array_length(data -> 'attempts') else 1 end)::int as depth,
             greatest(0, extract(epoch from pgboss.job_now() - min(start_after)))::float8 as lag_seconds
      from pgboss.job where state < 'active' and start_after <= pgboss.job_now() group by name
    ) due on due.name = q.name
    order by q.name`)
  return rows.map((row) => ({
    queue: String(row.queue),
    depth: Number(row.depth),
    lagSeconds: Number(row.lag_seconds),
  }))
}
