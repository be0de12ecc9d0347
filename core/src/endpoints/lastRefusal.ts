import type { Db, Trx } from '../platform/db/index.ts'

/** The trace of the last sender that an endpoint has refused; null without one. */
export async function lastRefusal(db: Db, endpointId: string): Promise<string | null> {
  const row = await db
    .selectFrom('endpointCounters')
    .where('endpointId', '=', endpointId)
    .select('lastRefusal')
    .executeTakeFirst()
  return row?.lastRefusal ?? null
}

export async function forgetRefusal(trx: Trx, endpointId: string): Promise<void> {
  await trx
    .updateTable('endpointCounters')
    .set({ lastRefusal: null })
    .where('endpointId', '=', endpointId)
    .execute()
}
