import { sql } from 'kysely'
import { z } from 'zod'
import type { Accepted } from '../api/checks.ts'
import { gathering } from '../api/gathering.ts'
import { namedInput } from '../api/values.ts'
import { ConditionDocument, parseCondition, storedCondition } from '../engine/conditions/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import { shownJson } from '../engine/json/index.ts'
import { contentTypeIn, isNamed } from '../engine/message/index.ts'
import { parseTemplate } from '../engine/templates/index.ts'
import { type Db, run, statement, type Trx } from '../platform/db/index.ts'
import { type CaptureResponse, checkResponse, type ServedResponse, safeResponse } from './responseRules.ts'

/** Bounds of scripted and relayed answers; part of the API. */
export const ANSWER_LIMITS = {
  responsesMax: 50,
  delayMsMax: 30_000,
  timesMax: 1_000_000_000,
  timeoutMs: { min: 100, max: 10_000 },
} as const

/** How an answer may break off, for tests of senders. */
const ANSWER_CLOSES = ['reset', 'mid-body'] as const

const answer = {
  status: z.number().default(200).describe('200-299 or 400-599'),
  headers: namedInput(z.string())
    .default({})
    .describe('`Content-Type` is one that an endpoint may answer; by default the endpoint’s own'),
}

/** One entry of an endpoint's `responses`. */
export const ScriptedResponse = z.object({
  when: ConditionDocument.overwrite((when) => when ?? {})
    .default({})
    .describe('Condition of actions; `{}` = always'),
  ...answer,
  body: z.string().default('').describe('May hold placeholders, such as `{{ body.challenge }}`'),
  delayMs: z.int().min(0).max(ANSWER_LIMITS.delayMsMax).default(0).describe('Wait before the answer'),
  times: z
    .int()
    .min(1)
    .max(ANSWER_LIMITS.timesMax)
    .nullish()
    .default(null)
    .describe('Answers so often, over all gateways; null: always'),
  close: z
    .enum(ANSWER_CLOSES)
    .nullish()
    .default(null)
    .describe(
      '`reset`: the connection ends instead of an answer. `mid-body`: it ends within the answer, whose body has at least two bytes',
    ),
})

/** The setting by which the receiver of an action answers the sender. */
export const AnswerFrom = z.object({
  actionId: z.guid().toLowerCase().describe('A forward action of the endpoint that is switched on'),
  timeoutMs: z
    .int()
    .min(ANSWER_LIMITS.timeoutMs.min)
    .max(ANSWER_LIMITS.timeoutMs.max)
    .default(3000)
    .describe('The longest wait for the receiver; then the fallback answers'),
  fallback: z
    .object({ ...answer, body: z.string().default('') })
    .nullish()
    .default(null)
    .describe('Answers when the receiver does not; null: the endpoint’s own answer'),
})

export type ScriptedResponses = readonly z.output<typeof ScriptedResponse>[]
export type AnswerFrom = z.output<typeof AnswerFrom>

type Path = readonly (string | number)[]

/** Checks what the schema of `responses` cannot express. Names every wrong part. */
export function checkResponses(responses: Accepted<ScriptedResponses> | undefined): InputIssue[] {
  return (responses ?? []).flatMap((response, index) => {
    const at = ['responses', index]
    const condition = parseCondition(response.when ?? {})
    const wrong = 'issues' in condition ? condition.issues : []
    return [
      ...wrong.map((issue) => ({ ...issue, path: [...at, 'when', ...issue.path] })),
      ...checkAnswer(response, at),
      ...checkTemplate(response.body, [...at, 'body']),
      ...checkClose(response, [...at, 'close']),
    ]
  })
}

/** Checks the fallback of `answerFrom`. The caller checks its action. */
export function checkFallback(answerFrom: Accepted<AnswerFrom> | null | undefined): InputIssue[] {
  const fallback = answerFrom?.fallback
  return fallback == null ? [] : checkAnswer(fallback, ['answerFrom', 'fallback'])
}

type Answer = NonNullable<AnswerFrom['fallback']>

/** An answer is checked by the rules of the endpoint's own, under its own names. */
function checkAnswer(given: Partial<Answer>, at: Path): InputIssue[] {
  const { responseContentType, ...rest } = ownForm({ status: 200, headers: {}, body: '', ...given })
  const typed = responseContentType === null ? rest : { ...rest, responseContentType }
  return checkResponse(typed, (member) => {
    if (member === 'responseContentType') {
      const name =
        Object.keys(given.headers ?? {}).find((header) => isNamed(header, 'content-type')) ?? 'Content-Type'
      return { path: [...at, 'headers', name], label: name }
    }
    const name = { responseStatusCode: 'status', responseHeaders: 'headers', responseBody: 'body' }[member]
    return { path: [...at, name], label: name }
  })
}

/** The members of an answer by the names of the endpoint's own; `Content-Type` is apart, null without one. */
function ownForm({ status, headers, body }: Answer) {
  const fields = Object.entries(headers)
  return {
    responseStatusCode: status,
    responseContentType: contentTypeIn(fields) ?? null,
    responseHeaders: Object.fromEntries(fields.filter(([name]) => !isNamed(name, 'content-type'))),
    responseBody: body,
  }
}

const hasPlaceholder = (body: string): boolean => body.includes('{{')

function checkTemplate(body: string | undefined, path: Path): InputIssue[] {
  if (body === undefined || !hasPlaceholder(body)) return []
  const parsed = parseTemplate(body)
  if ('template' in parsed) return []
  return parsed.problems.map(({ code, reason }) => ({ path, code, detail: reason }))
}

/** Refuses an answer that could not end within its body, because it has none, or one of a single byte. */
function checkClose({ close, status, body }: Accepted<ScriptedResponses[number]>, path: Path): InputIssue[] {
  if (close !== 'mid-body' || body === undefined) return []
  const hasBody = status !== 204 && status !== 205 && (hasPlaceholder(body) || Buffer.byteLength(body) > 1)
  const detail =
    'An answer that ends within its body has a body of at least two bytes, and a status that allows one.'
  return hasBody ? [] : [{ path, code: 'not_allowed', detail }]
}

/** The column of a list. Conditions keep their text. */
export function responsesText(responses: ScriptedResponses): string {
  return JSON.stringify(responses.map((response) => ({ ...response, when: JSON.stringify(response.when) })))
}

const Stored = z.array(ScriptedResponse.extend({ when: z.string() }))

/** Reads a column of {@link responsesText}. */
function storedResponses(text: string): z.output<typeof Stored> {
  return Stored.parse(JSON.parse(text))
}

/** Reads the column of `answerFrom`; null without one. */
export function storedAnswerFrom(text: string | null): AnswerFrom | null {
  return text === null ? null : AnswerFrom.parse(JSON.parse(text))
}

/**
 * The list in the form of the API.
 *
 * @param used answers given so far, by the index of their response
 */
export function responsesView(text: string, used: Readonly<Record<string, number>>) {
  return storedResponses(text).map((response, index) => ({
    ...response,
    when: shownJson(response.when),
    used: response.times === null ? null : Math.min(response.times, used[index] ?? 0),
  }))
}

/** A scripted response, ready to answer captures. */
export type PreparedResponse = Readonly<ReturnType<typeof preparedResponses>[number]>

/** Prepares a stored list for captures. `own` is the answer of the endpoint, whose content type is the default. */
export function preparedResponses(text: string, own: CaptureResponse) {
  return storedResponses(text).map((response) => {
    const parsed = hasPlaceholder(response.body) ? parseTemplate(response.body) : undefined
    return {
      condition: storedCondition(response.when),
      times: response.times ?? null,
      delayMs: response.delayMs,
      close: response.close ?? null,
      /** Its body is that of a response without placeholders. */
      served: servedAnswer(response, own),
      /** Set if the body has placeholders. */
      template: parsed !== undefined && 'template' in parsed ? parsed.template : null,
    }
  })
}

/** An answer as it is served, hardened like the endpoint's own. */
export function servedAnswer(given: Answer, own: CaptureResponse): ServedResponse {
  const { responseContentType, ...rest } = ownForm(given)
  return safeResponse({ ...rest, responseContentType: responseContentType ?? own.responseContentType })
}

/**
 * Adds `$4` uses of the response `$3` in the run `$2` of the endpoint `$1`. The row is the only count, so that it is
 * exact over all processes. Adds none in a sealed workspace: its rows are copied to another cell.
 */
const ADD_USES = statement(
  'add uses of response',
  `insert into response_uses as u (endpoint_id, run_id, position, used)
   select e.id, $2::uuid, $3::integer, $4::integer
   from endpoints e join workspaces w on w.id = e.workspace_id
   where e.id = $1::uuid and (w.sealed_until is null or w.sealed_until <= clock_timestamp())
   on conflict (endpoint_id, run_id, position) do update set used = u.used + excluded.used
   returning used`,
)

export interface Counted {
  readonly endpointId: string
  readonly runId: string
  readonly position: number
  readonly times: number
  /** False only looks whether one is left. */
  readonly takes: boolean
}

const takeTogether = gathering<Counted, boolean>(async (db, uses) => {
  const [{ endpointId, runId, position }] = uses
  const taken = uses.filter(({ takes }) => takes).length
  const [row] = await run(db, ADD_USES, [endpointId, runId, position, taken])
  if (row === undefined) throw new Error('The endpoint counts no answers now: it moves, or is gone.')
  let used = row.used - taken
  return uses.map(({ times, takes }) => {
    const isLeft = used < times
    if (takes) used += 1
    return isLeft
  })
})

/**
 * Takes one of the `times` of a response, for one answer. Answers at the same time share a statement, in the order of
 * their calls.
 *
 * @returns false if none is left
 * @throws errors of the database; nothing is known to be taken then
 */
export function takeUse(db: Db, counted: Counted): Promise<boolean> {
  return takeTogether(db, `${counted.runId}/${counted.position}`, counted)
}

/** Forgets how often the scripted responses of an endpoint have answered in runs before the present one. */
export async function forgetUses(trx: Trx, endpointId: string): Promise<void> {
  await sql`
    delete from response_uses u using endpoints e
    where u.endpoint_id = ${endpointId} and e.id = u.endpoint_id and u.run_id is distinct from e.responses_run
  `.execute(trx)
}
