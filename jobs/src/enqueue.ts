import { type Enqueue, QUEUES } from '@creel/core'
import { fromKysely, type PgBoss } from 'pg-boss'

/** core's Enqueue over pg-boss: jobs are inserted through the caller's own transaction (DESIGN §3, invariant 3). */
export function createEnqueue(boss: PgBoss): Enqueue {
  return async (trx, name, jobs) => {
    if (jobs.length === 0) return
    const inserts = jobs.map(({ payload, startAfter }) => ({
      data: QUEUES[name].payload.parse(payload),
      ...(startAfter === undefined ? {} : { startAfter }),
    }))
    // Without plugins: pg-boss must see its own column names.
    await boss.insert(name, inserts, { db: fromKysely(trx.withoutPlugins()) })
  }
}
