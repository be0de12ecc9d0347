import { randomUUID } from 'node:crypto'
import type { Urls } from '../api/services.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import type { Db } from '../platform/db/index.ts'
import type { RequestFilters } from '../requests/index.ts'
import { bodyPieces } from './bodyPieces.ts'
import { exportedHead } from './exportedRequest.ts'
import { type ExportRow, endOfStep, findForExport, matchingSizes, newestId } from './exportQueries.ts'
import { HAR_END, HAR_START, harEntry } from './formats/index.ts'
import { lineOf } from './line.ts'

/** Stored requests that one statement scans, so that none takes long even if few match. */
const LOOK_ROWS = 2_000
/** Bytes of bodies in memory at once; a longer body is read in pieces. */
const CHUNK_BYTES = 1024 * 1024
const CHUNK_ROWS = 100
/** Memory of a row without its body. */
const ROW_BYTES = 1024

/** Requests to export, and their format. */
export interface ExportOptions {
  readonly filters: RequestFilters
  readonly format: 'ndjson' | 'har'
  /** If false, the values of headers with the name of a credential are masked. */
  readonly includeSecrets: boolean
  readonly urls: Urls
  /** Aborts the export between two chunks. */
  readonly signal: AbortSignal
}

/**
 * Every matching request, oldest first, in chunks of about a megabyte, regardless of body sizes. Reads as fast as the
 * consumer, and holds no connection between chunks. Requests that arrive after the start are excluded, so that it ends.
 */
export async function* exportMany(
  db: Db,
  { id: endpointId, captureId }: Pick<EndpointRow, 'id' | 'captureId'>,
  { filters, format, includeSecrets, urls, signal }: ExportOptions,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const untilId = await newestId(db, endpointId)
  let afterId = filters.afterId ?? 0
  let separator = ''
  const written = (row: ExportRow, text: string): string => {
    if (format === 'ndjson') return lineOf(row, text, { includeSecrets })
    const head = exportedHead(row, { captureId, urls, includeSecrets })
    const entry = separator + harEntry(head, { text, bytes: row.bodyBytes })
    separator = ',\n'
    return entry
  }
  if (format === 'har') yield bytesOf([HAR_START])
  while (untilId !== undefined && afterId < untilId) {
    signal.throwIfAborted()
    const end = await endOfStep(db, endpointId, { afterId, untilId, rows: LOOK_ROWS })
    const sizes = await matchingSizes(db, endpointId, { ...filters, afterId }, end)
    for (const ids of chunksOf(sizes)) {
      signal.throwIfAborted()
      const rows = await findForExport(db, endpointId, ids, { bodyBytesMax: CHUNK_BYTES })
      const [first] = rows
      if (first === undefined) continue
      if (first.body !== null) yield bytesOf(rows.map((row) => written(row, row.body ?? '')))
      // A long body gets a chunk of its own.
      else yield* inPieces(db, first, { written, signal })
    }
    afterId = end
  }
  if (format === 'har') yield bytesOf([HAR_END])
}

/** A request whose body is read and written piece by piece. */
async function* inPieces(
  db: Db,
  row: ExportRow,
  { written, signal }: { written: (row: ExportRow, text: string) => string; signal: AbortSignal },
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  // Placeholder of the body. It is random, so it occurs nowhere else in a sender's data.
  const mark = randomUUID()
  const [before = '', after = ''] = written(row, mark).split(mark)
  yield bytesOf([before])
  for await (const piece of bodyPieces(db, row)) {
    signal.throwIfAborted()
    yield bytesOf([piece])
  }
  yield bytesOf([after])
}

/** Concatenates texts with one copy; joining and then encoding would copy each twice more. */
function bytesOf(texts: readonly string[]): Uint8Array<ArrayBuffer> {
  const length = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const bytes = Buffer.allocUnsafeSlow(length)
  let at = 0
  for (const text of texts) at += bytes.write(text, at)
  return bytes
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
