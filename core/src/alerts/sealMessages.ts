import type { Trx } from '../platform/db/index.ts'
import { type DataKeyRef, type SecretBox, sealedAs } from '../platform/secrets/index.ts'

/** Messages that one call seals. */
const AT_ONCE = 200

/** Seals messages of notify actions of an endpoint, which repeat captures. Returns whether there may be more. */
export async function sealMessages(
  secrets: Pick<SecretBox, 'open'>,
  trx: Trx,
  endpointId: string,
  sealing: DataKeyRef,
): Promise<boolean> {
  const rows = await trx
    .selectFrom('alerts')
    .where('endpointId', '=', endpointId)
    .where('eventKind', '=', 'action.notify')
    .where('reason', 'is not', null)
    .select(['id', 'reason'])
    .limit(AT_ONCE)
    .execute()
  for (const { id, reason } of rows)
    await trx
      .updateTable('alerts')
      .set({ reason: null, ...sealedAs(secrets, sealing, { reason }) })
      .where('id', '=', id)
      .execute()
  return rows.length === AT_ONCE
}
