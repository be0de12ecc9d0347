import { sql } from 'kysely'
import type { Trx } from '../platform/db/index.ts'
import { type DataKeyRef, type SecretBox, sealedMembers } from '../platform/secrets/index.ts'
import { recorded, sealedRecord } from './details.ts'
import { countAttempts } from './storageBytes.ts'

/** Seals the records of attempts of requests that are about to be sealed. A record without a body gets the captured one. */
export async function sealRecords(
  secrets: Pick<SecretBox, 'open'>,
  trx: Trx,
  endpointId: string,
  requests: readonly { readonly id: number; readonly body: Buffer }[],
  sealing: DataKeyRef,
): Promise<void> {
  if (requests.length === 0) return
  const bodies = new Map(requests.map(({ id, body }) => [id, body]))
  const records = await trx
    .selectFrom('attemptDetails')
    .where('endpointId', '=', endpointId)
    .where('requestId', 'in', [...bodies.keys()])
    .where('sealedWith', 'is', null)
    .select(['attemptId', 'requestId', 'sentUrl', 'sentHeaders', 'sentBody'])
    .select(['receivedHeaders', 'receivedBody'])
    .execute()
  for (const { attemptId, requestId, ...record } of records) {
    const sentBody = record.sentBody ?? recorded(bodies.get(requestId) ?? Buffer.alloc(0))
    await trx
      .updateTable('attemptDetails')
      .set(sealedRecord(secrets, sealing, { ...record, sentBody }))
      .where('endpointId', '=', endpointId)
      .where('attemptId', '=', attemptId)
      .execute()
  }
  const ids = records.map(({ attemptId }) => attemptId)
  // The path of a local URL is that of the capture.
  await sql`
    update delivery_attempts set url = substring(url from '^[a-z]+://[^/?#]*')
    where endpoint_id = ${endpointId} and id = any(${ids}::bigint[]) and kind = 'listen'`.execute(trx)
  // After its code, the error of a message has the words of the receiver.
  await sql`
    update delivery_attempts set error = split_part(error, ': ', 1)
    where endpoint_id = ${endpointId} and id = any(${ids}::bigint[]) and kind = 'notify'`.execute(trx)
  if (ids.length > 0) await countAttempts(trx, endpointId, ids)
}

/** Requests whose records one call of {@link sealLateRecords} seals. */
const LATE_AT_ONCE = 20

/** Seals some records in plain of sealed requests: their attempts had read these before. Returns whether there may be more. */
export async function sealLateRecords(
  secrets: Pick<SecretBox, 'open'>,
  trx: Trx,
  endpointId: string,
  { sealing, afterId, upToId }: { sealing: DataKeyRef; afterId: number; upToId: number },
): Promise<boolean> {
  const requests = await trx
    .selectFrom('requests as r')
    .where('r.endpointId', '=', endpointId)
    .where(({ between }) => between('r.id', afterId + 1, upToId))
    .where('r.sealedWith', 'is not', null)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('attemptDetails as d')
          .whereRef('d.endpointId', '=', 'r.endpointId')
          .whereRef('d.requestId', '=', 'r.id')
          .where('d.sealedWith', 'is', null),
      ),
    )
    .select(['r.id', 'r.body'])
    .select(sealedMembers('r'))
    .limit(LATE_AT_ONCE)
    .execute()
  await sealRecords(secrets, trx, endpointId, requests, sealing)
  return requests.length === LATE_AT_ONCE
}
