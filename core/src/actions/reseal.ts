import type { Services } from '../api/services.ts'
import { RESEAL_ROWS, type Resealed, resealedColumns } from '../platform/secrets/index.ts'

const COLUMNS = ['signingSecret', 'previousSigningSecret'] as const

/**
 * Seals the stored secrets of actions anew with the newest key, in batches, while the service runs.
 *
 * @param counts are added to
 */
export async function resealActions(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  counts: Resealed,
): Promise<void> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const from = after
    const lastId = await db.transaction().execute(async (trx) => {
      const rows = await trx
        .selectFrom('actions')
        .select(['id', 'workspaceId', ...COLUMNS])
        .where('id', '>', from)
        .where((where) => where.or(COLUMNS.map((column) => where(column, 'is not', null))))
        .orderBy('id')
        .limit(RESEAL_ROWS)
        .forNoKeyUpdate()
        .execute()
      for (const row of rows) {
        const written = resealedColumns(secrets, row, COLUMNS, counts)
        if (Object.keys(written).length === 0) continue
        await trx.updateTable('actions').set(written).where('id', '=', row.id).execute()
      }
      return rows.length < RESEAL_ROWS ? undefined : rows.at(-1)?.id
    })
    if (lastId === undefined) return
    after = lastId
  }
}
