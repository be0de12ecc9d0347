import type { Db } from '../platform/db/index.ts'
import { type ExportRow, isTextBody, sliceOfBody } from './exportQueries.ts'

/** Octets that are read at once: whole groups of three, so that pieces of base64 can stand one after the other. */
const SLICE_BYTES = 768 * 1024

/**
 * The inside of a JSON string that holds a body, piece by piece: its text with what JSON escapes, or base64.
 *
 * @throws Error when the body is no longer there
 */
export async function* bodyPieces(
  db: Db,
  row: Pick<ExportRow, 'endpointId' | 'id' | 'bodyBytes' | 'bodyIsBinary' | 'bodyTruncated'>,
): AsyncGenerator<string, void, undefined> {
  const { endpointId, id, bodyBytes } = row
  const decoder = isTextBody(row) ? new TextDecoder('utf-8', { ignoreBOM: true }) : undefined
  for (let from = 0; from < bodyBytes; from += SLICE_BYTES) {
    const slice = await sliceOfBody(db, { endpointId, id, from, bytes: SLICE_BYTES })
    if (slice === undefined) throw new Error('A request was purged while its body was exported.')
    if (decoder === undefined) yield slice
    else {
      // A character that a slice ends within is kept for the next.
      const isLast = from + SLICE_BYTES >= bodyBytes
      const text = decoder.decode(Buffer.from(slice, 'base64'), { stream: !isLast })
      yield JSON.stringify(text).slice(1, -1)
    }
  }
}
