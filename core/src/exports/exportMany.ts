import type { Urls } from '../api/services.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import type { Db } from '../platform/db/index.ts'
import type { RequestFilters } from '../requests/index.ts'
import { exportedRequest } from './exportedRequest.ts'
import { endOfStep, findRequestsByIds, matchingSizes, newestId } from './exportQueries.ts'
import { HAR_END, HAR_START, harEntry } from './formats/index.ts'
import { lineOf } from './line.ts'

/** Stored requests that one statement looks through: however few match, none takes long. */
const LOOK_ROWS = 2_000
/** Bodies that are held at once; a larger one is held alone. */
const CHUNK_BYTES = 2 * 1024 * 1024
const CHUNK_ROWS = 100
/** What a row weighs besides its body. */
const ROW_BYTES = 1024

/** What is written, and how. */
export interface ExportOptions {
  readonly filters: RequestFilters
  readonly format: 'ndjson' | 'har'
  /** Else the values of headers that are called like credentials are masked. */
  readonly includeSecrets: boolean
  readonly urls: Urls
  /** Ends the export between two chunks. */
  readonly signal: AbortSignal
}

/**
 * Every matching request, oldest first, in chunks of a few megabytes: reads as fast as the reader takes them, and holds no
 * connection in between. What arrives after it began is left out, so that it ends.
 */
export async function* exportMany(
  db: Db,
  { id: endpointId, captureId }: Pick<EndpointRow, 'id' | 'captureId'>,
  { filters, format, includeSecrets, urls, signal }: ExportOptions,
): AsyncGenerator<string, void, undefined> {
  const untilId = await newestId(db, endpointId)
  let afterId = filters.afterId ?? 0
  let separator = ''
  if (format === 'har') yield HAR_START
  while (untilId !== undefined && afterId < untilId) {
    signal.throwIfAborted()
    const end = await endOfStep(db, endpointId, { afterId, untilId, rows: LOOK_ROWS })
    const sizes = await matchingSizes(db, endpointId, { ...filters, afterId }, end)
    for (const ids of chunksOf(sizes)) {
      signal.throwIfAborted()
      const rows = await findRequestsByIds(db, endpointId, ids)
      const texts = rows.map((row) => {
        if (format === 'ndjson') return lineOf(row, { includeSecrets })
        const entry = separator + harEntry(exportedRequest(row, { captureId, urls, includeSecrets }))
        separator = ',\n'
        return entry
      })
      yield texts.join('')
    }
    afterId = end
  }
  if (format === 'har') yield HAR_END
}

function* chunksOf(
  sizes: readonly { readonly id: number; readonly bodyBytes: number }[],
): Generator<number[]> {
  let ids: number[] = []
  let bytes = 0
  for (const { id, bodyBytes } of sizes) {
    if (ids.length > 0 && (bytes + bodyBytes > CHUNK_BYTES || ids.length === CHUNK_ROWS)) {
      yield ids
      ids = []
      bytes = 0
    }
    ids.push(id)
    bytes += bodyBytes + ROW_BYTES
  }
  if (ids.length > 0) yield ids
}
