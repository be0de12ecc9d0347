import type { Context } from '../api/context.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import { newestMatching } from '../requests/index.ts'
import { matchOf, parseMatchText } from './match.ts'
import { SUGGESTION_CAPTURES, type Suggestion, suggestFrom } from './suggestion.ts'

/**
 * What one suggestion reads of stored requests at most. Where matches are so rare that this does not find ten
 * gaps, the history says too little about their rhythm anyway.
 */
const READ_BYTES_MAX = 4 * 1024 * 1024

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
  const found = await newestMatching(ctx.db, endpoint.id, condition, {
    limit: SUGGESTION_CAPTURES,
    readBytes: READ_BYTES_MAX,
  })
  return suggestFrom(found.map(({ receivedAt }) => receivedAt))
}
