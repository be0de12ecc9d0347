import { gathering } from '../../api/gathering.ts'
import type { Services } from '../../api/services.ts'
import { headersFromText } from '../../deliveries/index.ts'
import { type ServedResponse, safeResponse } from '../../endpoints/index.ts'
import { changesOf } from '../../platform/changes/index.ts'
import { type Db, type RowsOf, run, statement } from '../../platform/db/index.ts'
import { sealedColumns } from '../../platform/secrets/index.ts'

/** The first attempts of the requests `$2` through the action `$3` that have ended, with their answers. */
const FIRST_ANSWERS = statement(
  'first answers of receivers',
  `select a.request_id, a.state, a.status_code, d.received_headers, d.received_body, d.received_body_truncated,
     ${sealedColumns('d')}
   from delivery_attempts a
   left join attempt_details d on d.endpoint_id = a.endpoint_id and d.attempt_id = a.id
   where a.endpoint_id = $1::uuid and a.request_id = any($2::bigint[]) and a.action_id = $3::uuid
     and a.attempt_number = 1 and a.trigger = 'capture' and a.state <> 'Pending'`,
)

type AnswerRow = RowsOf<typeof FIRST_ANSWERS>

interface Awaited {
  readonly endpointId: string
  readonly actionId: string
  readonly requestId: number
}

/** Senders of an endpoint that wait at the same time share a lookup. */
const lookTogether = gathering<Awaited, AnswerRow | undefined>(async (db: Db, waiting) => {
  const [{ endpointId, actionId }] = waiting
  const rows = await run(db, FIRST_ANSWERS, [endpointId, waiting.map(({ requestId }) => requestId), actionId])
  const byRequest = new Map(rows.map((row) => [row.requestId, row]))
  return waiting.map(({ requestId }) => byRequest.get(requestId))
})

/** The answer of a receiver, or the reason why it is not the sender's. */
export type Relayed = { readonly served: ServedResponse } | { readonly reason: string }

/**
 * Waits for the first attempt of a delivery and returns the answer of its receiver. The attempt is made and recorded by
 * whatever process makes attempts; this only reads its record.
 *
 * @param ended aborts at the timeout, or when the sender has gone
 */
export async function relayedAnswer(
  services: Pick<Services, 'db' | 'endpointChanges'>,
  awaited: Awaited,
  ended: AbortSignal,
): Promise<Relayed> {
  const changes = changesOf(services, awaited.endpointId, ended)
  try {
    while (!ended.aborted) {
      const row = await lookTogether(services.db, `${awaited.endpointId}/${awaited.actionId}`, awaited)
      if (row !== undefined) return answerOf(row)
      await changes.next()
    }
    return { reason: 'timeout' }
  } finally {
    changes.stop()
  }
}

function answerOf(row: AnswerRow): Relayed {
  const { statusCode, receivedBody: body } = row
  if (row.state !== 'Succeeded' || statusCode === null) {
    return { reason: statusCode === null ? 'no_response' : `http_${statusCode}` }
  }
  if (row.receivedBodyTruncated === true) return { reason: 'answer_too_long' }
  const fields = headersFromText(row.receivedHeaders ?? '[]')
  const headerOf = (name: string) => fields.find(([field]) => field.toLowerCase() === name)?.[1]
  const encoding = headerOf('content-encoding') ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') return { reason: 'answer_encoded' }
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body ?? Buffer.alloc(0))
  } catch {
    return { reason: 'answer_not_text' }
  }
  const served = safeResponse({
    responseStatusCode: statusCode,
    responseContentType: headerOf('content-type') ?? 'text/plain',
    responseHeaders: Object.fromEntries(fields),
    responseBody: text,
  })
  return { served }
}
