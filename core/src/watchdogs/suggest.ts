import type { Context } from '../context.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import { newestMatching } from '../requests/index.ts'
import { matchOf, parseMatchText } from './match.ts'
import { SUGGESTION_CAPTURES, type Suggestion, suggestFrom } from './suggestion.ts'

/**
 * Suggests interval and grace from the rhythm of the newest stored captures that satisfy a match.
 *
 * @param match JSON text; undefined measures every capture
 */
export async function suggestWatchdog(
  ctx: Context,
  endpoint: EndpointRow,
  match: string | undefined,
): Promise<Suggestion> {
  const condition = matchOf(parseMatchText(match))
  const found = await newestMatching(ctx.db, endpoint.id, condition, { limit: SUGGESTION_CAPTURES })
  return suggestFrom(found.map(({ receivedAt }) => receivedAt))
}
