import type { Trx } from '../platform/db/index.ts'
import { type DataKeyRef, type SecretBox, sealedAs } from '../platform/secrets/index.ts'

/** Answers that one call seals; of each, the body has at most 64 KiB. */
const AT_ONCE = 50

/** Seals answers that replays of an endpoint have recorded. Returns whether there may be more. */
export async function sealAnswers(
  secrets: Pick<SecretBox, 'open'>,
  trx: Trx,
  endpointId: string,
  sealing: DataKeyRef,
): Promise<boolean> {
  const rows = await trx
    .selectFrom('replayItems as i')
    .innerJoin('replays as r', 'r.id', 'i.replayId')
    .where('r.endpointId', '=', endpointId)
    .where('i.sealedWith', 'is', null)
    .where('i.headers', 'is not', null)
    .select(['i.replayId', 'i.position', 'i.headers', 'i.body', 'i.differences'])
    .limit(AT_ONCE)
    .execute()
  for (const { replayId, position, ...answer } of rows)
    await trx
      .updateTable('replayItems')
      .set({ headers: null, body: null, differences: null, ...sealedAs(secrets, sealing, answer) })
      .where('replayId', '=', replayId)
      .where('position', '=', position)
      .execute()
  return rows.length === AT_ONCE
}
