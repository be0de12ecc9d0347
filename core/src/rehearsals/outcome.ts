import type { Db } from '../platform/db/index.ts'
import { ANSWER_BYTES_MAX } from './bounds.ts'
import { type Answer, type Comparison, compareAnswers, unstablePaths } from './compare.ts'
import { baselineAction, type ReplayOptions } from './options.ts'
import { answersTo, type ItemRow } from './queries.ts'
import { recordedAnswer } from './recorded.ts'

/**
 * Compares an answer with its baseline.
 *
 * @returns undefined if it cannot be compared: there is no baseline, or a body was not kept
 */
export async function outcomeOf(
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
  return { statusCode, headers: headers === null ? [] : JSON.parse(headers), body: whole, durationMs, error }
}
