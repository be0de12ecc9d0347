import { sql } from 'kysely'
import type { Services } from '../api/services.ts'
import { type AttemptResult, findDetail, headersFromText } from '../deliveries/index.ts'
import type { WireHeader } from '../engine/message/index.ts'
import { BYTEA, columnsOf, type Db, encodeArray, run, statement } from '../platform/db/index.ts'
import { sealedAs } from '../platform/secrets/index.ts'
import { keysOfRequests, sendsRequest } from '../requests/index.ts'
import { type Answer, type Comparison, compareAnswers, unstablePaths } from './compare.ts'
import { ANSWER_BYTES_MAX, ANSWERS_BYTES_MAX } from './declarations.ts'
import { baselineAction, type ReplayOptions } from './options.ts'
import { answersTo, type ItemRow } from './queries.ts'

/** An answer as it came, before it is cut. */
export interface Received extends Answer {
  readonly headers: readonly WireHeader[]
  readonly body: Uint8Array
  readonly isCut: boolean
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
  extends Pick<
    ItemRow,
    'durationMs' | 'statusCode' | 'error' | 'headers' | 'outcome' | 'differences' | 'body'
  > {
  readonly state: 'done' | 'errored' | 'waiting'
}

const NO_ANSWER = {
  durationMs: null,
  statusCode: null,
  headers: null,
  outcome: null,
  differences: null,
  body: null,
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
  }
}

/** A send without an answer has failed, also without a baseline. */
const unanswered = ({ statusCode }: Answer): Comparison | undefined =>
  statusCode === null ? { outcome: 'failed', differences: [] } : undefined

/**
 * Ends sends: `$1` and `$2` name them, `$3` says when they were begun. One that was begun again is left as it is. Answers
 * beyond {@link ANSWERS_BYTES_MAX} of a replay lose their headers, bodies and differences. Replays are locked in the
 * order of their ids.
 */
const FINISH = statement(
  'finish sends of replays',
  `with locked as materialized (
    select id, answer_bytes from replays where id = any($1::uuid[]) order by id for update
  ), given as (
    select g.*, l.answer_bytes + sum(g.bytes) over (partition by g.replay_id order by g.place) <= ${ANSWERS_BYTES_MAX}
      or g.bytes = 0 as is_kept
    from unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::text[], $5::int[], $6::int[], $7::text[], $8::text[],
      $9::text[], $10::text[], $11::bytea[], $12::int[], $13::uuid[], $14::bytea[]) with ordinality
      as g (replay_id, position, sent_at, state, duration_ms, status_code, error, outcome, headers, differences,
        body, bytes, sealed_with, sealed, place)
    join locked l on l.id = g.replay_id
  ), ended as (
    update replay_items i set state = g.state, duration_ms = g.duration_ms, status_code = g.status_code, error = g.error,
      outcome = g.outcome, attempts = i.attempts - (g.state = 'waiting')::int,
      headers = case when g.is_kept then g.headers end, differences = case when g.is_kept then g.differences end,
      body = case when g.is_kept then g.body end, sealed_with = case when g.is_kept then g.sealed_with end,
      sealed = case when g.is_kept then g.sealed end
    from given g
    where i.replay_id = g.replay_id and i.position = g.position and i.sent_at = g.sent_at and i.state = 'sending'
    returning g.replay_id, case when g.is_kept then g.bytes else 0 end as bytes
  )
  update replays p set answer_bytes = p.answer_bytes + e.bytes
  from (select replay_id, sum(bytes) as bytes from ended group by replay_id) e
  where p.id = e.replay_id and e.bytes > 0`,
)

/** A send with its end. */
export interface EndedItem {
  readonly endpointId: string
  readonly item: Pick<ItemRow, 'replayId' | 'position' | 'requestId' | 'sentAt'>
  readonly end: SendEnd
}

/** Stores the ends of sends. Answers are sealed as their requests are. */
export async function finishSends(
  { secrets }: Pick<Services, 'secrets'>,
  db: Db,
  ended: readonly EndedItem[],
): Promise<void> {
  const keys = await keysOfRequests(
    db,
    ended.map(({ endpointId, item: { requestId } }) => ({ endpointId, requestId })),
  )
  const stored = ended.map(({ item, end }, at) => {
    const key = keys[at] ?? null
    const { headers, differences, body } = end
    const answer = { headers, differences, body }
    const bytes = Object.values(answer).reduce((sum, part) => sum + Buffer.byteLength(part ?? ''), 0)
    const { sealedWith, sealed } = sealedAs(secrets, key === 'shredded' ? null : key, answer)
    const shown = key === null ? answer : { headers: null, differences: null, body: null }
    return { ...item, ...end, ...shown, bytes, sealedWith, sealed }
  })
  await run(db, FINISH, [
    ...columnsOf(stored, 'replayId', 'position', 'sentAt', 'state', 'durationMs', 'statusCode', 'error'),
    ...columnsOf(stored, 'outcome', 'headers', 'differences'),
    encodeArray(BYTEA, stored, ({ body }) => body),
    ...columnsOf(stored, 'bytes', 'sealedWith'),
    encodeArray(BYTEA, stored, ({ sealed }) => sealed),
  ])
}

/**
 * Compares an answer with its baseline.
 *
 * @returns undefined if it cannot be compared: there is no baseline, or a part of an answer was not kept
 */
async function outcomeOf(
  db: Db,
  { endpointId, options }: { readonly endpointId: string; readonly options: ReplayOptions },
  item: Pick<ItemRow, 'replayId' | 'requestId' | 'copy'>,
  answer: Answer,
): Promise<Comparison | undefined> {
  const { compare } = options
  if (compare === undefined) return undefined
  const ignored = compare.ignore ?? []
  if (compare.with === 'recorded') {
    const actionId = baselineAction(options)
    if (actionId === undefined) return undefined
    const recorded = await recordedAnswer(db, endpointId, item.requestId, actionId)
    return recorded && compareAnswers(recorded, answer, ignored)
  }
  if (compare.with === 'first') {
    if (item.copy === 0) return undefined
    const first = (await answersTo(db, item.replayId, item.requestId)).find(({ copy }) => copy === 0)
    return first && compareAnswers(storedAnswer(first), answer, ignored)
  }
  const [first, second] = await answersTo(db, compare.with, item.requestId)
  if (first === undefined) return undefined
  const baseline = storedAnswer(first)
  const unstable = second === undefined ? [] : unstablePaths(baseline, storedAnswer(second))
  return compareAnswers(baseline, answer, [...ignored, ...unstable])
}

function storedAnswer({ statusCode, headers, body, durationMs, error }: ItemRow): Answer {
  const whole = body === null || body.length >= ANSWER_BYTES_MAX ? null : body
  return {
    statusCode,
    headers: headers === null ? null : JSON.parse(headers),
    body: whole,
    durationMs,
    error,
  }
}

/**
 * The newest recorded answer to a request through an action.
 *
 * @returns undefined if none was recorded, or its record was pruned
 */
async function recordedAnswer(
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
    // Replays of many are compared with what came before them, and an edited request is another one.
    .where(sql.raw<boolean>(sendsRequest('delivery_attempts')))
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
