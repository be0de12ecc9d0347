import type { Trx } from '../platform/db/index.ts'
import { type DataKeyRef, type SecretBox, sealedAs } from '../platform/secrets/index.ts'

/** Events that one call seals. */
const AT_ONCE = 100

/** Seals events of an endpoint that wait to be sent to agents. Returns whether there may be more. */
export async function sealAgentEvents(
  secrets: Pick<SecretBox, 'open'>,
  trx: Trx,
  endpointId: string,
  sealing: DataKeyRef,
): Promise<boolean> {
  const rows = await trx
    .selectFrom('eventDeliveries as d')
    .innerJoin('eventSubscriptions as s', 's.id', 'd.subscriptionId')
    .where('s.endpointId', '=', endpointId)
    .where('d.requestId', 'is not', null)
    .where('d.body', 'is not', null)
    .select(['d.id', 'd.body'])
    .limit(AT_ONCE)
    .forUpdate('d')
    .execute()
  for (const { id, body } of rows)
    await trx
      .updateTable('eventDeliveries')
      .set({ body: null, ...sealedAs(secrets, sealing, { body }) })
      .where('id', '=', id)
      .execute()
  return rows.length === AT_ONCE
}
