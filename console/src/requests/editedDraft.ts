import { CONNECTION_FIELDS } from '@creel/core/engine/words'
import { asRead } from '../body/asRead.ts'
import type { Inputs, RequestDetail } from '../trpc.ts'
import { fieldOf, linesOf } from '../words/headers.ts'
import { jsonLines } from '../words/jsonLines.ts'

type EditedDraft = ReturnType<typeof draftOfRequest>

/** A call of the API is limited to a megabyte, so longer bodies are sent as captured. */
const EDITED_CHARACTERS_MAX = 900_000

/** Fields that a forward does not pass on, in addition to those of the capture's connection. */
const NOT_PASSED_ON = /^(accept-encoding|proxy-.*|creel-.*)$/i

/** Whether the body can be edited: text, and not too long for a call. */
export function isEditable(request: RequestDetail): boolean {
  const { body, isBinary } = asRead(request)
  const isWhole = !request.bodyOmitted && !request.bodyTruncated
  return isWhole && !isBinary && (body ?? '').length <= EDITED_CHARACTERS_MAX
}

/**
 * Draft of a request as captured. A body that arrived encoded is sent decoded, without the field that says so.
 *
 * @param actionId empty until an action is chosen
 */
export function draftOfRequest(request: RequestDetail, actionId = '') {
  const { body } = asRead(request)
  const isDecoded = body !== request.body
  return {
    actionId,
    method: request.method,
    // One field a line: `Name: value`.
    headers: request.rawHeaders
      .filter(({ name }) => !NOT_PASSED_ON.test(name) && !CONNECTION_FIELDS.has(name.toLowerCase()))
      .filter(({ name }) => !isDecoded || name.toLowerCase() !== 'content-encoding')
      .map(({ name, value }) => `${name}: ${value}`)
      .join('\n'),
    body: isEditable(request) ? (body ?? '') : '',
    sign: true,
    transform: true,
  }
}

/** The API's input. A line without a colon is sent as a name, so that the API's refusal explains it. */
export function membersOfDraft(
  draft: EditedDraft,
  request: RequestDetail,
): Omit<Inputs['requests']['send'], 'endpointId' | 'requestId'> {
  const { actionId, body, headers, method, sign, transform } = draft
  return {
    actionId,
    method: method.trim(),
    headers: linesOf(headers).map(fieldOf),
    ...(isEditable(request) ? { body } : {}),
    sign,
    transform,
  }
}

/** Number of lines that differ from the captured request. */
export function changedLines(draft: EditedDraft, request: RequestDetail): number {
  const captured = draftOfRequest(request)
  return (
    (draft.method.trim() === captured.method ? 0 : 1) +
    differing(linesOf(captured.headers), linesOf(draft.headers)) +
    differing(linesOfBody(captured.body), linesOfBody(draft.body))
  )
}

/** JSON is compared member by member, so that formatting is no change. */
function linesOfBody(body: string): string[] {
  return laidOut(body)?.split('\n') ?? body.split('\n')
}

/** Number of lines between the common start and the common end. */
function differing(before: readonly string[], after: readonly string[]): number {
  let first = 0
  while (first < before.length && first < after.length && before[first] === after[first]) first += 1
  let last = 0
  const shorter = Math.min(before.length, after.length)
  while (last < shorter - first && before.at(-1 - last) === after.at(-1 - last)) last += 1
  return Math.max(before.length, after.length) - first - last
}

/** JSON with a line for each member, without changes to digits, order and repeats; null if it is not JSON. */
export function laidOut(body: string): string | null {
  const lines = jsonLines(body)
  if (lines === null) return null
  return lines
    .map(
      ({ depth, pieces }) =>
        '  '.repeat(depth) + pieces.map(({ kind, text }) => (kind === 'colon' ? ': ' : text)).join(''),
    )
    .join('\n')
}
