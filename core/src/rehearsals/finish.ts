import type { Services } from '../api/services.ts'
import type { AttemptResult } from '../deliveries/index.ts'
import type { WireHeader } from '../engine/message/index.ts'
import { sealedAs } from '../platform/secrets/index.ts'
import { keyOfRequest } from '../requests/index.ts'
import { ANSWER_BYTES_MAX, ANSWERS_BYTES_MAX } from './bounds.ts'
import type { Answer, Comparison } from './compare.ts'
import type { ReplayOptions } from './options.ts'
import { outcomeOf } from './outcome.ts'
import { finishItem, type ItemRow, lockReplay, updateReplay } from './queries.ts'

/** An answer as it came, before it is cut. */
export interface Received {
  readonly statusCode: number | null
  readonly headers: readonly WireHeader[]
  readonly body: Uint8Array
  readonly isCut: boolean
  readonly durationMs: number
  readonly error: string | null
}

/** The answer of an attempt. An HTTP status is no error here: it is compared. */
export function receivedOf({ received, error, durationMs }: AttemptResult): Received {
  return {
    statusCode: received?.statusCode ?? null,
    headers: received?.headers ?? [],
    body: received?.body ?? Buffer.alloc(0),
    isCut: received?.bodyTruncated ?? false,
    durationMs,
    error: received === null ? error : null,
  }
}

/**
 * Stores the answer to a send with its outcome. A body of {@link ANSWER_BYTES_MAX} or more is cut, and not compared. After
 * {@link ANSWERS_BYTES_MAX} of a replay, bodies are compared and dropped.
 */
export async function finishSend(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  replay: { readonly endpointId: string; readonly options: ReplayOptions },
  item: Pick<ItemRow, 'replayId' | 'position' | 'requestId' | 'copy'>,
  received: Received,
): Promise<void> {
  const isWhole = !received.isCut && received.body.length < ANSWER_BYTES_MAX
  const answer: Answer = { ...received, body: isWhole ? received.body : null }
  const compared = (await outcomeOf(db, replay, item, answer)) ?? unanswered(answer)
  const kept = Buffer.from(received.body.subarray(0, ANSWER_BYTES_MAX))
  const sealing = await keyOfRequest(db, replay.endpointId, item.requestId)
  await db.transaction().execute(async (trx) => {
    const row = kept.length === 0 ? undefined : await lockReplay(trx, item.replayId)
    const hasRoom = row !== undefined && row.answerBytes + kept.length <= ANSWERS_BYTES_MAX
    const answered = {
      headers: JSON.stringify(received.headers),
      body: kept.length === 0 ? kept : hasRoom ? kept : null,
      differences: compared === undefined ? null : JSON.stringify(compared.differences),
    }
    const isStored = await finishItem(trx, item, {
      state: 'done',
      durationMs: received.durationMs,
      statusCode: received.statusCode,
      error: received.error,
      outcome: compared?.outcome ?? null,
      ...(sealing === null ? answered : NO_ANSWER),
      ...sealedAs(secrets, sealing === 'shredded' ? null : sealing, answered),
    })
    if (isStored && hasRoom)
      await updateReplay(trx, item.replayId, { answerBytes: row.answerBytes + kept.length })
  })
}

const NO_ANSWER = { headers: null, body: null, differences: null } as const

/** A send without an answer has failed, also without a baseline. */
const unanswered = ({ statusCode }: Answer): Comparison | undefined =>
  statusCode === null ? { outcome: 'failed', differences: [] } : undefined

/** Stores that a send could not be made. */
export async function failSend(
  { db }: Pick<Services, 'db'>,
  item: Pick<ItemRow, 'replayId' | 'position'>,
  error: string,
): Promise<void> {
  const nothing = { durationMs: null, statusCode: null, ...NO_ANSWER, sealedWith: null, sealed: null }
  await db
    .transaction()
    .execute((trx) => finishItem(trx, item, { state: 'errored', error, ...nothing, outcome: null }))
}
