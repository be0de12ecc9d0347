import { findDetail, headersFromText } from '../deliveries/index.ts'
import type { Db } from '../platform/db/index.ts'
import type { Answer } from './compare.ts'

/**
 * The newest recorded answer to a request through an action.
 *
 * @returns undefined if none was recorded, or its record was pruned
 */
export async function recordedAnswer(
  db: Db,
  endpointId: string,
  requestId: number,
  actionId: string,
): Promise<Answer | undefined> {
  const attempt = await db
    .selectFrom('deliveryAttempts')
    .where('endpointId', '=', endpointId)
    .where('requestId', '=', requestId)
    .where('actionId', '=', actionId)
    .where('statusCode', 'is not', null)
    // Replays of many are compared with what came before them.
    .where('trigger', '<>', 'rehearsal')
    .orderBy('id', 'desc')
    .limit(1)
    .select(['id', 'statusCode', 'durationMs', 'error'])
    .executeTakeFirst()
  const detail = attempt && (await findDetail(db, endpointId, attempt.id))
  if (attempt === undefined || detail === undefined) return undefined
  const { receivedHeaders, receivedBody, receivedBodyTruncated } = detail
  return {
    statusCode: attempt.statusCode,
    headers: headersFromText(receivedHeaders ?? '[]'),
    body: receivedBodyTruncated === true ? null : (receivedBody ?? Buffer.alloc(0)),
    durationMs: attempt.durationMs,
    error: attempt.error,
  }
}
