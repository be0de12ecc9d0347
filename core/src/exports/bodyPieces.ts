import type { Db } from '../platform/db/index.ts'
import { type ExportRow, isTextBody, sliceOfBody } from './exportQueries.ts'

/** Bytes read at once: a multiple of three, so that pieces of base64 can be concatenated. */
export const SLICE_BYTES = 384 * 1024

/**
 * The content of a JSON string with a body, piece by piece: escaped text, or base64.
 *
 * @throws Error when the body is no longer stored
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
      // The decoder keeps an incomplete character for the next slice.
      const isLast = from + SLICE_BYTES >= bodyBytes
      const text = decoder.decode(Buffer.from(slice, 'base64'), { stream: !isLast })
      yield JSON.stringify(text).slice(1, -1)
    }
  }
}
