import type { Context } from '../api/context.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import { searchHistory } from '../requests/index.ts'
import { matchOf, parseMatchText } from './match.ts'
import { SUGGESTION_CAPTURES, type Suggestion, suggestFrom } from './suggestion.ts'

/**
 * Suggests interval and grace from the times of the newest stored captures that match.
 *
 * @param match JSON text; undefined matches every capture
 * @throws LineTooLong as `searchHistory` does
 */
export async function suggestWatchdog(
  ctx: Context,
  endpoint: EndpointRow,
  match: string | undefined,
): Promise<Suggestion> {
  const condition = matchOf(parseMatchText(match))
  const { matches, isComplete } = await searchHistory(ctx, endpoint.id, condition, {
    limit: SUGGESTION_CAPTURES,
  })
  return suggestFrom(
    matches.map(({ receivedAt }) => receivedAt),
    isComplete,
  )
}
