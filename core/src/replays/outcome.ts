import type { Db } from '../platform/db/index.ts'
import { type Answer, type Comparison, compareAnswers, unstablePaths } from './compare.ts'
import type { ReplayOptions } from './options.ts'
import { answersTo, type ItemRow } from './queries.ts'
import { recordedAnswer } from './recorded.ts'

/**
 * Compares an answer with its baseline.
 *
 * @returns undefined without a baseline
 */
export async function outcomeOf(
  db: Db,
  { endpointId, options }: { readonly endpointId: string; readonly options: ReplayOptions },
  item: Pick<ItemRow, 'replayId' | 'requestId' | 'copy'>,
  answer: Answer,
): Promise<Comparison | undefined> {
  const { compare, to } = options
  if (compare === undefined) return undefined
  const ignored = compare.ignore ?? []
  if (compare.with === 'recorded') {
    const actionId = 'actionId' in to ? to.actionId : undefined
    const recorded = await recordedAnswer(db, endpointId, item.requestId, actionId)
    return recorded && compareAnswers(recorded, answer, ignored)
  }
  if (compare.with === 'first') {
    if (item.copy === 0) return undefined
    const [first] = await answersTo(db, item.replayId, item.requestId)
    return first && compareAnswers(storedAnswer(first), answer, ignored)
  }
  const [first, second] = await answersTo(db, compare.with, item.requestId)
  if (first === undefined) return undefined
  const baseline = storedAnswer(first)
  const unstable = second === undefined ? [] : unstablePaths(baseline, storedAnswer(second))
  return compareAnswers(baseline, answer, [...ignored, ...unstable])
}

/** The answer that a send has stored. */
export function storedAnswer({ statusCode, headers, body, durationMs, error }: ItemRow): Answer {
  return { statusCode, headers: headers === null ? [] : JSON.parse(headers), body, durationMs, error }
}
