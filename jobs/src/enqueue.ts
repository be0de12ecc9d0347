import { type Enqueue, run, type Statement, statement, type Trx } from '@creel/core'
import type { Db, PgBoss } from 'pg-boss'

/** core's Enqueue over pg-boss: jobs are inserted through the caller's own transaction. */
export function createEnqueue(boss: PgBoss): Enqueue {
  const statements = new Map<string, Statement>()
  return async (trx, { name, payload: schema }, jobs) => {
    if (jobs.length === 0) return
    const inserts = jobs.map(({ payload, startAfter, priority, key }) => ({
      data: schema.parse(payload),
      ...(startAfter === undefined ? {} : { startAfter }),
      ...(priority === undefined ? {} : { priority }),
      ...(key === undefined ? {} : { singletonKey: key }),
    }))
    await boss.insert(name, inserts, { db: prepared(trx, statements) })
  }
}

/** pg-boss's statements on a transaction. It inserts into one queue with one text, which is worth preparing. */
function prepared(trx: Trx, statements: Map<string, Statement>): Db {
  // Without plugins: pg-boss must see its own column names.
  const db = trx.withoutPlugins()
  return {
    async executeSql(text, values = []) {
      const known =
        statements.get(text) ?? statement(`enqueue ${statements.size + 1}`, text, { isDescribed: false })
      statements.set(text, known)
      return { rows: [...(await run(db, known, values))] }
    },
  }
}
