import { randomUUID } from 'node:crypto'
import type { Urls } from '../api/services.ts'
import type { EndpointRow } from '../endpoints/index.ts'
import type { Db } from '../platform/db/index.ts'
import { isShredded } from '../platform/secrets/index.ts'
import { type EndTurn, Turns, WAIT_MS_MAX } from '../platform/turns/index.ts'
import { inTurn, type RequestFilters } from '../requests/index.ts'
import {
  type ExportRow,
  endOfStep,
  findForExport,
  isPresent,
  isTextBody,
  matchingSizes,
  newestId,
  sliceOfBody,
} from './exportQueries.ts'
import { HAR_END, HAR_START, harEntry } from './formats/index.ts'
import { exportedHead, lineOf } from './line.ts'

/** Bytes read at once: a multiple of three, so that pieces of base64 can be concatenated. */
const SLICE_BYTES = 384 * 1024

/**
 * The content of a JSON string with a body, piece by piece: escaped text, or base64.
 *
 * @throws Error when the body is no longer stored, or can no longer be read
 */
async function* bodyPieces(db: Db, row: ExportRow): AsyncGenerator<string, void, undefined> {
  const { endpointId, id, bodyBytes } = row
  const decoder = isTextBody(row) ? new TextDecoder('utf-8', { ignoreBOM: true }) : undefined
  for (let from = 0; from < bodyBytes; from += SLICE_BYTES) {
    const slice = await sliceOfBody(db, { endpointId, id, from, bytes: SLICE_BYTES })
    if (slice === undefined) throw new Error('A request was purged while its body was exported.')
    // Without the rest, the line would be that of a request with a shorter body.
    if (slice === null && !isShredded(row))
      throw new Error('The key of a request was destroyed while its body was exported.')
    if (slice === null) return
    if (decoder === undefined) yield slice
    else {
      // The decoder keeps an incomplete character for the next slice.
      const isLast = from + SLICE_BYTES >= bodyBytes
      const text = decoder.decode(Buffer.from(slice, 'base64'), { stream: !isLast })
      yield JSON.stringify(text).slice(1, -1)
    }
  }
}

/** Stored requests that one statement scans, so that none takes long even if few match. */
const LOOK_ROWS = 2_000
/** Bytes of bodies in memory at once; a longer body is read in pieces. */
const CHUNK_BYTES = 512 * 1024
const CHUNK_ROWS = 100
/** Memory of a row without its body. */
const ROW_BYTES = 1024

/** The most exports of a workspace at once in this process. Others wait. */
const AT_ONCE = 2

const exports = new Turns({ atOnce: AT_ONCE, wait: { msMax: WAIT_MS_MAX, noun: 'exports' } })

export interface ExportOptions {
  readonly filters: RequestFilters
  readonly format: 'ndjson' | 'har'
  /** If false, the values of headers with the name of a credential are masked. */
  readonly includeSecrets: boolean
  readonly urls: Urls
  readonly workspaceId: string
  /** Aborts the export between two chunks: it breaks off. */
  readonly signal: AbortSignal
  /** Called when the export is over, however it ends. Further calls must be no-ops. */
  readonly release: () => void
}

type Chunks = AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>

/**
 * Every matching request, oldest first, in chunks of about half a megabyte, regardless of body sizes. Reads as fast as
 * the consumer, and holds no connection between chunks. Requests that arrive after the start are excluded, so that it
 * ends. A workspace has two exports at once; chunks take turns with all long bodies that are read.
 *
 * @throws LineTooLong when two exports of the workspace run, and would for another ten seconds
 */
export async function exportMany(
  db: Db,
  endpoint: Pick<EndpointRow, 'id' | 'captureId'>,
  options: ExportOptions,
): Promise<AsyncIterable<Uint8Array<ArrayBuffer>>> {
  const { workspaceId, signal, release } = options
  let turn: EndTurn
  try {
    turn = await exports.begin(workspaceId, { signal })
  } catch (error) {
    release()
    throw error
  }
  const end = (isWhole: boolean) => {
    turn(isWhole)
    release()
  }
  const chunks = chunksFor(db, endpoint, options)
  // An iterator that was never started does not run its `finally`.
  signal.addEventListener('abort', () => end(false), { once: true })
  const next = async () => {
    try {
      signal.throwIfAborted()
      const result = await chunks.next()
      if (result.done === true) end(true)
      return result
    } catch (error) {
      end(false)
      throw error
    }
  }
  const cancel = async () => {
    end(false)
    return await chunks.return()
  }
  return { [Symbol.asyncIterator]: () => ({ next, return: cancel }) }
}

async function* chunksFor(
  db: Db,
  { id: endpointId, captureId }: Pick<EndpointRow, 'id' | 'captureId'>,
  { filters, format, includeSecrets, urls, workspaceId, signal }: ExportOptions,
): Chunks {
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
  const readAll = async <Result>(read: () => Promise<Result>) => {
    const result = await read()
    // The keys of an endpoint go with it: what is sealed reads as shredded from then on.
    if (!(await isPresent(db, endpointId)))
      throw new Error('The endpoint was deleted, or moved to another cell, while it was exported.')
    return result
  }
  const inTurnOfAll = <Result>(bytes: number, read: () => Promise<Result>) =>
    inTurn(workspaceId, bytes, () => readAll(read), { signal, isAdmitted: true })
  /** A request whose body is read and written piece by piece. */
  async function* inPieces(row: ExportRow): Chunks {
    // Placeholder of the body. It is random, so it occurs nowhere else in a sender's data.
    const mark = randomUUID()
    const [before = '', after = ''] = written(row, mark).split(mark)
    yield bytesOf([before])
    const pieces = bodyPieces(db, row)
    for (;;) {
      const { done, value } = await inTurnOfAll(SLICE_BYTES, () => pieces.next())
      if (done === true) break
      yield bytesOf([value])
    }
    yield bytesOf([after])
  }
  if (format === 'har') yield bytesOf([HAR_START])
  while (untilId !== undefined && afterId < untilId) {
    signal.throwIfAborted()
    const end = await endOfStep(db, endpointId, { afterId, untilId, rows: LOOK_ROWS })
    const sizes = await readAll(() => matchingSizes(db, endpointId, { ...filters, afterId }, end))
    for (const { ids, bytes } of chunksOf(sizes)) {
      const chunk = await inTurnOfAll(Math.min(bytes, CHUNK_BYTES), async () => {
        const rows = await findForExport(db, endpointId, ids, { bodyBytesMax: CHUNK_BYTES })
        const [first] = rows
        if (first?.body === null) return first
        return bytesOf(rows.map((row) => written(row, row.body ?? '')))
      })
      // A long body gets a chunk of its own.
      if (!(chunk instanceof Uint8Array)) yield* inPieces(chunk)
      else if (chunk.length > 0) yield chunk
    }
    afterId = end
  }
  if (format === 'har') yield bytesOf([HAR_END])
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
): Generator<{ readonly ids: readonly number[]; readonly bytes: number }> {
  let ids: number[] = []
  let bytes = 0
  for (const { id, bodyBytes } of sizes) {
    if (ids.length > 0 && (bytes + bodyBytes > CHUNK_BYTES || ids.length === CHUNK_ROWS)) {
      yield { ids, bytes }
      ids = []
      bytes = 0
    }
    ids.push(id)
    bytes += bodyBytes + ROW_BYTES
  }
  if (ids.length > 0) yield { ids, bytes }
}
