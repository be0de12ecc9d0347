import { findDetail, headersFromText } from '../deliveries/index.ts'
import type { Db } from '../platform/db/index.ts'
import type { Answer } from './compare.ts'

/**
 * The newest recorded answer to a request: through the action, or through any.
 *
 * @returns undefined if none was recorded, or its record was pruned
 */
export async function recordedAnswer(
  db: Db,
  endpointId: string,
  requestId: number,
  actionId: string | undefined,
): Promise<Answer | undefined> {
  let query = db
    .selectFrom('deliveryAttempts')
    .where('endpointId', '=', endpointId)
    .where('requestId', '=', requestId)
    .where('statusCode', 'is not', null)
    // Replays of many are compared with what came before them.
    .where('trigger', '<>', 'rehearsal')
  if (actionId !== undefined) query = query.where('actionId', '=', actionId)
  const attempt = await query
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
