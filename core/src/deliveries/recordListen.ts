import { sql } from 'kysely'
import { shredded } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import type { WireHeader } from '../engine/message/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import type { Trx } from '../platform/db/index.ts'
import { isShredded, keyOfRow, sealedMembers } from '../platform/secrets/index.ts'
import { type ReceivedAnswer, recorded, recordOf, sealedRecord } from './details.ts'
import { insertInlineAttempt } from './queries.ts'
import { stateAfter } from './states.ts'
import { countAttempts } from './storageBytes.ts'

/** Action id in attempts of `creel listen`, which have no action. */
const NO_ACTION = '00000000-0000-0000-0000-000000000000'

/** A message that `creel listen` sent to its local server, and the answer. */
export interface ListenExchange {
  readonly workspaceId: string
  readonly endpointId: string
  readonly requestId: number
  readonly listener: string
  readonly url: string
  readonly at: Date
  readonly durationMs: number
  /** Text of the error; null when there was an answer. */
  readonly error: string | null
  readonly sent: { readonly method: string; readonly headers: readonly WireHeader[] }
  /** Null when there was no answer. */
  readonly received: ReceivedAnswer | null
}

/** Records the exchange as a finished attempt of kind `listen`. Returns its id. */
export async function recordListen(
  { secrets }: Pick<Services, 'secrets'>,
  trx: Trx,
  exchange: ListenExchange,
): Promise<number> {
  const { workspaceId, endpointId, requestId, at, durationMs, sent, received } = exchange
  const captured = await trx
    .selectFrom('requests')
    .where('endpointId', '=', endpointId)
    .where('id', '=', requestId)
    .select(sql<Buffer>`case when sealed_with is null then ''::bytea else body end`.as('body'))
    .select(sealedMembers('requests'))
    .executeTakeFirst()
  if (captured !== undefined && isShredded(captured)) throw shredded()
  const sealing = captured === undefined ? null : keyOfRow(captured)
  // The path of the local URL is that of the capture.
  const url = sealing === null ? exchange.url : new URL(exchange.url).origin
  const state = stateAfter({ statusCode: received?.statusCode ?? null, retried: false, deadLetters: false })
  const id = await insertInlineAttempt(trx, {
    endpointId,
    deliveryId: null,
    workspaceId,
    requestId,
    actionId: NO_ACTION,
    actionName: exchange.listener,
    kind: 'listen',
    state,
    attemptNumber: 1,
    trigger: 'replay',
    statusCode: received?.statusCode ?? null,
    error:
      received === null
        ? (exchange.error ?? 'no_response')
        : state === 'Succeeded'
          ? null
          : `http_${received.statusCode}`,
    url,
    at,
    finishedAt: new Date(at.getTime() + durationMs),
    durationMs,
    leaseUntil: null,
  })
  await trx
    .insertInto('attemptDetails')
    .values({
      endpointId,
      attemptId: id,
      requestId,
      ...sealedRecord(secrets, sealing, {
        ...recordOf({ ...sent, url: exchange.url, body: new Uint8Array() }, received),
        // The captured bytes were sent unchanged. Sealed ones cannot be read in their place.
        sentBody: captured === undefined || sealing === null ? null : recorded(captured.body),
      }),
    })
    .execute()
  await countAttempts(trx, endpointId, [id])
  await announceEndpointChange(trx, endpointId)
  return id
}
