import type { Services } from '../api/services.ts'
import { type Resealed, resealTable } from '../platform/secrets/index.ts'

const COLUMNS = ['signingSecret', 'previousSigningSecret', 'authSecrets', 'tlsClientKey'] as const

/**
 * Reseals the stored secrets of actions with the newest key, in batches, while the service runs.
 *
 * @param counts counters to which the results are added
 */
export async function resealActions(
  services: Pick<Services, 'db' | 'secrets'>,
  counts: Resealed,
): Promise<void> {
  await resealTable(
    services,
    {
      columns: COLUMNS,
      next: (trx, afterId, limit) =>
        trx
          .selectFrom('actions')
          .select(['id', 'workspaceId', ...COLUMNS])
          .where('id', '>', afterId)
          .where((where) => where.or(COLUMNS.map((column) => where(column, 'is not', null))))
          .orderBy('id')
          .limit(limit)
          .forNoKeyUpdate()
          .execute(),
      write: (trx, id, columns) => trx.updateTable('actions').set(columns).where('id', '=', id).execute(),
    },
    counts,
  )
}
