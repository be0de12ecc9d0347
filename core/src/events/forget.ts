import type { Db, Trx } from '../platform/db/index.ts'

/** The labels of an endpoint that its event types list. There are at most some hundred. */
export async function listedLabels(db: Db, endpointId: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('eventLabels')
    .where('endpointId', '=', endpointId)
    .select('label')
    .execute()
  return rows.map(({ label }) => label)
}

export async function forgetLabels(trx: Trx, endpointId: string, labels: readonly string[]): Promise<void> {
  if (labels.length === 0) return
  await trx
    .deleteFrom('eventLabels')
    .where('endpointId', '=', endpointId)
    .where('label', 'in', labels)
    .execute()
}
