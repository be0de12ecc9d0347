import type { Services } from '../api/services.ts'
import { type Resealed, resealTable } from '../platform/secrets/index.ts'

const COLUMNS = ['credentials'] as const

/**
 * Reseals the credentials of runs with the newest key, while the service runs.
 *
 * @param counts counters to which the results are added
 */
export async function resealReconciliations(
  services: Pick<Services, 'db' | 'secrets'>,
  counts: Resealed,
): Promise<void> {
  await resealTable(
    services,
    {
      columns: COLUMNS,
      next: (trx, afterId, limit) =>
        trx
          .selectFrom('reconciliations')
          .select(['id', 'workspaceId', ...COLUMNS])
          .where('id', '>', afterId)
          .where('credentials', 'is not', null)
          .orderBy('id')
          .limit(limit)
          .forNoKeyUpdate()
          .execute(),
      write: (trx, id, columns) =>
        trx.updateTable('reconciliations').set(columns).where('id', '=', id).execute(),
    },
    counts,
  )
}
