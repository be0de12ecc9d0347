import type { Services } from '../api/services.ts'
import { type Resealed, resealTable } from '../platform/secrets/index.ts'

const COLUMNS = ['callback'] as const

/**
 * Reseals the callbacks of subscriptions with the newest key, while the service runs.
 *
 * @param counts counters to which the results are added
 */
export async function resealSubscriptions(
  services: Pick<Services, 'db' | 'secrets'>,
  counts: Resealed,
): Promise<void> {
  await resealTable(
    services,
    {
      columns: COLUMNS,
      next: (trx, afterId, limit) =>
        trx
          .selectFrom('eventSubscriptions')
          .select(['id', 'workspaceId', ...COLUMNS])
          .where('id', '>', afterId)
          .orderBy('id')
          .limit(limit)
          .forNoKeyUpdate()
          .execute(),
      write: (trx, id, columns) =>
        trx.updateTable('eventSubscriptions').set(columns).where('id', '=', id).execute(),
    },
    counts,
  )
}
