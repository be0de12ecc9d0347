import type { Services } from '../api/services.ts'
import { type Resealed, resealTable } from '../platform/secrets/index.ts'

const COLUMNS = ['secret'] as const

/**
 * Encrypts the stored secrets of alert channels with the newest key, in batches, while the service runs.
 *
 * @param counts totals to add to
 */
export async function resealChannels(
  services: Pick<Services, 'db' | 'secrets'>,
  counts: Resealed,
): Promise<void> {
  await resealTable(
    services,
    {
      columns: COLUMNS,
      next: (trx, afterId, limit) =>
        trx
          .selectFrom('alertChannels')
          .select(['id', 'workspaceId', ...COLUMNS])
          .where('id', '>', afterId)
          .where((where) => where.or(COLUMNS.map((column) => where(column, 'is not', null))))
          .orderBy('id')
          .limit(limit)
          .forNoKeyUpdate()
          .execute(),
      write: (trx, id, columns) =>
        trx.updateTable('alertChannels').set(columns).where('id', '=', id).execute(),
    },
    counts,
  )
}
