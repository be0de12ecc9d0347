import type { Services } from '../api/services.ts'
import type { AttemptResult } from '../deliveries/index.ts'
import type { WireHeader } from '../engine/message/index.ts'
import { BYTEA, type Db, encodeArray, run, statement, type Trx } from '../platform/db/index.ts'
import { type DataKeyRef, sealedAs } from '../platform/secrets/index.ts'
import { keyOfRequest } from '../requests/index.ts'
import { ANSWER_BYTES_MAX, ANSWERS_BYTES_MAX } from './bounds.ts'
import type { Answer, Comparison } from './compare.ts'
import type { ReplayOptions } from './options.ts'
import { outcomeOf } from './outcome.ts'
import type { ItemRow } from './queries.ts'

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

/** The end of a send: its answer, the reason why it was not made, or that it was cut off and waits again. */
export interface SendEnd
  extends Pick<ItemRow, 'durationMs' | 'statusCode' | 'error' | 'headers' | 'outcome' | 'differences'> {
  readonly state: 'done' | 'errored' | 'waiting'
  readonly body: Buffer
  /** The key that seals the request, and so the answer. */
  readonly sealing: DataKeyRef | 'shredded' | null
}

const NO_ANSWER = {
  durationMs: null,
  statusCode: null,
  headers: null,
  outcome: null,
  differences: null,
  body: Buffer.alloc(0),
  sealing: null,
} as const

/** The end of a send that could not be made. */
export const failedEnd = (error: string): SendEnd => ({ state: 'errored', error, ...NO_ANSWER })

/** The end of a send that was cut off: it is made again. */
export const CUT_OFF: SendEnd = { state: 'waiting', error: null, ...NO_ANSWER }

/** The end of a send that was answered. A body of {@link ANSWER_BYTES_MAX} or more is cut, and not compared. */
export async function answeredEnd(
  db: Db,
  replay: { readonly endpointId: string; readonly options: ReplayOptions },
  item: Pick<ItemRow, 'replayId' | 'requestId' | 'copy'>,
  received: Received,
): Promise<SendEnd> {
  const { statusCode, durationMs, error } = received
  const isWhole = !received.isCut && received.body.length < ANSWER_BYTES_MAX
  const answer: Answer = { ...received, body: isWhole ? received.body : null }
  const compared = (await outcomeOf(db, replay, item, answer)) ?? unanswered(answer)
  return {
    state: 'done',
    durationMs,
    statusCode,
    error,
    headers: JSON.stringify(received.headers),
    outcome: compared?.outcome ?? null,
    differences: compared === undefined ? null : JSON.stringify(compared.differences),
    body: Buffer.from(received.body.subarray(0, ANSWER_BYTES_MAX)),
    sealing: await keyOfRequest(db, replay.endpointId, item.requestId),
  }
}

/** A send without an answer has failed, also without a baseline. */
const unanswered = ({ statusCode }: Answer): Comparison | undefined =>
  statusCode === null ? { outcome: 'failed', differences: [] } : undefined

/** Locks the replays `$1` in the order of their ids, and reads the bytes of the answers that they keep. */
const LOCK = statement(
  'lock replays to record',
  'select id, answer_bytes from replays where id = any($1::uuid[]) order by id for update',
)

/** Ends sends: `$1` and `$2` name them, `$3` says when they were begun. One that was begun again is left as it is. */
const FINISH = statement(
  'finish sends of replays',
  `with ended as (
    update replay_items i set state = g.state, duration_ms = g.duration_ms, status_code = g.status_code, error = g.error,
      outcome = g.outcome, headers = g.headers, differences = g.differences, body = g.body,
      sealed_with = g.sealed_with, sealed = g.sealed
    from unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::text[], $5::int[], $6::int[], $7::text[], $8::text[],
      $9::text[], $10::text[], $11::bytea[], $12::uuid[], $13::bytea[], $14::int[])
      as g (replay_id, position, sent_at, state, duration_ms, status_code, error, outcome,
        headers, differences, body, sealed_with, sealed, bytes)
    where i.replay_id = g.replay_id and i.position = g.position and i.sent_at = g.sent_at and i.state = 'sending'
    returning g.replay_id, g.bytes
  )
  update replays p set answer_bytes = p.answer_bytes + e.bytes
  from (select replay_id, sum(bytes) as bytes from ended group by replay_id) e
  where p.id = e.replay_id and e.bytes > 0`,
)

/** A send with its end. */
export interface EndedItem {
  readonly item: Pick<ItemRow, 'replayId' | 'position' | 'sentAt'>
  readonly end: SendEnd
}

/** Stores the ends of sends. After {@link ANSWERS_BYTES_MAX} of a replay, the bodies of answers are dropped. */
export async function finishSends(
  { secrets }: Pick<Services, 'secrets'>,
  trx: Trx,
  ended: readonly EndedItem[],
): Promise<void> {
  const replays = await run(trx, LOCK, [[...new Set(ended.map(({ item }) => item.replayId))]])
  const bytesOf = new Map(replays.map(({ id, answerBytes }) => [id, answerBytes]))
  const stored = ended.map(({ item, end }) => {
    const { length } = end.body
    const bytes = (bytesOf.get(item.replayId) ?? 0) + length
    const isKept = bytes <= ANSWERS_BYTES_MAX
    if (isKept) bytesOf.set(item.replayId, bytes)
    // An empty body is kept: it differs from none.
    const body = end.state === 'done' && (isKept || length === 0) ? end.body : null
    const { headers, differences, sealing } = end
    const answer = { headers, differences, body }
    const sealed = sealedAs(secrets, sealing === 'shredded' ? null : sealing, answer)
    const shown = sealing === null ? answer : { headers: null, differences: null, body: null }
    return { ...item, ...end, ...shown, ...sealed, bytes: isKept ? length : 0 }
  })
  await run(trx, FINISH, [
    stored.map(({ replayId }) => replayId),
    stored.map(({ position }) => position),
    stored.map(({ sentAt }) => sentAt),
    stored.map(({ state }) => state),
    stored.map(({ durationMs }) => durationMs),
    stored.map(({ statusCode }) => statusCode),
    stored.map(({ error }) => error),
    stored.map(({ outcome }) => outcome),
    stored.map(({ headers }) => headers),
    stored.map(({ differences }) => differences),
    encodeArray(BYTEA, stored, ({ body }) => body),
    stored.map(({ sealedWith }) => sealedWith),
    encodeArray(BYTEA, stored, ({ sealed }) => sealed),
    stored.map(({ bytes }) => bytes),
  ])
}
