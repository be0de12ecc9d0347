import { METHODS } from 'node:http'
import { DomainError } from '@creel/core'
import { CONNECTION_FIELDS } from '@creel/core/engine/words'
import { slices } from '@creel/core/platform/turns'
import type { AnswerStream, Exchange } from './exchange.ts'
import { heldBytesOf } from './longAnswer.ts'
import { isOfApi, ownAnswer } from './ownAnswers.ts'
import { connectionFields, currentDate, statusLine } from './readyAnswer.ts'
import { asciiPathOf } from './requestHead.ts'

/** The handler of a fetch-style server: all of the gateway except the capture route. */
export type FetchHandler = (request: Request, client?: FetchClient) => Promise<Response>

/** The sender of a request. */
export interface FetchClient {
  /** Taken from trusted proxies; null when unknown. */
  readonly address: string | null
}

/** Fields of an answer that are not taken over: those of its connection, and `Date`, which the listener writes itself. */
const NOT_TAKEN_OVER: ReadonlySet<string> = new Set([...CONNECTION_FIELDS, 'date'])

const KNOWN_METHODS = new Set(METHODS)
const EVENT_STREAM = 'text/event-stream'
const LAST_CHUNK = Buffer.from('0\r\n\r\n')
const LINE_END = Buffer.from('\r\n')
/** An answer that is complete at once is sent with its length, up to this many bytes. */
const WHOLE_BYTES_MAX = 4 * 1024 * 1024
/** Maximum size of one part of a streamed answer; the client has to take it before the next. */
const GATHERED_BYTES_MAX = 256 * 1024
/**
 * Parts up to this many bytes in total are joined into one write. Copying longer ones costs more than further writes.
 */
const JOINED_BYTES_MAX = 64 * 1024

/** CONNECT asks for a tunnel, and no route has it. So it replaces every method that Bun would turn into a GET. */
const METHOD_WITHOUT_ROUTES = 'CONNECT'

/**
 * Answers a request with a fetch handler. The body streams as fast as the handler reads it, the answer as fast as the
 * client takes it. The request's signal is aborted when the client disconnects before it has its answer. HEAD is passed
 * on as GET and answered without the body. Requests of unknown methods reach only the API, which has its own answer for
 * them.
 *
 * @throws the handler's error; then nothing was answered
 */
export async function answerWithFetch(handler: FetchHandler, exchange: Exchange): Promise<void> {
  const { method, target } = exchange.head
  const hasRoutes = KNOWN_METHODS.has(method) && method !== METHOD_WITHOUT_ROUTES
  if (!hasRoutes && !isOfApi(target)) return exchange.answer(ownAnswer(405, target, exchange.traceId))
  const hangUp = new AbortController()
  exchange.onHangUp(() => hangUp.abort())
  // The end of the client's side is reported to the first of several requests that arrive at once, and to no other.
  if (exchange.peer !== 'open') hangUp.abort()
  const answer = await handler(toFetchRequest(exchange, hangUp.signal), { address: exchange.address })
  await sendAnswer(answer, exchange, hangUp.signal)
}

function toFetchRequest(exchange: Exchange, signal: AbortSignal): Request {
  const { head } = exchange
  const headers = new Headers()
  for (const [name, value] of head.fields) headers.append(name, value)
  const method =
    head.method === 'HEAD' ? 'GET' : KNOWN_METHODS.has(head.method) ? head.method : METHOD_WITHOUT_ROUTES
  // Routing ignores the host; this one always parses.
  return new Request(`http://localhost${asciiPathOf(head.target)}`, {
    method,
    headers,
    signal,
    body: bodyOf(exchange),
  })
}

function bodyOf(exchange: Exchange): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null {
  const { head } = exchange
  if (head.bodyLength === 0 || head.method === 'GET' || head.method === 'HEAD') return null
  const whole = exchange.takeWhole()
  return whole === undefined ? streamOf(exchange) : new Uint8Array(whole)
}

function streamOf(exchange: Exchange): ReadableStream<Uint8Array> {
  let isOver = false
  return new ReadableStream<Uint8Array>({
    start(controller) {
      exchange.receive({
        onData(piece) {
          if (isOver) return
          controller.enqueue(piece)
          if ((controller.desiredSize ?? 0) <= 0) exchange.pause()
        },
        onEnd() {
          if (!isOver) controller.close()
          isOver = true
        },
        onAbort() {
          // A refusal, because the client is at fault. An error of the service would be logged and counted as one.
          if (!isOver) controller.error(new DomainError('request_invalid', 'The body broke off.'))
          isOver = true
        },
      })
    },
    pull: () => exchange.resume(),
    cancel() {
      isOver = true
      exchange.resume()
    },
  })
}

async function sendAnswer(answer: Response, exchange: Exchange, signal: AbortSignal): Promise<void> {
  const { body, status } = answer
  if (body === null || status === 204 || status === 304) {
    await body?.cancel()
    return sendWhole(answer, exchange, [])
  }
  const reader = body.getReader()
  const isHead = exchange.head.method === 'HEAD'
  const isStream = answer.headers.get('content-type') === EVENT_STREAM && !isHead
  // Gathering a long answer before its first part is sent would take long.
  const bytesMax = heldBytesOf(answer) > WHOLE_BYTES_MAX ? GATHERED_BYTES_MAX : WHOLE_BYTES_MAX
  const start = isStream ? undefined : await readAvailable(reader, reader.read(), bytesMax)
  if (start?.isEnd === true) return sendWhole(answer, exchange, start.pieces)
  const stop = () => void reader.cancel().catch(() => {})
  if (signal.aborted) {
    stop()
    // Without an answer the connection would stay open.
    return exchange.abort()
  }
  signal.addEventListener('abort', stop, { once: true })
  if (isHead) {
    sendHead(answer, exchange, exchange.beginAnswer(), '')
    exchange.beginAnswer().end()
    return stop()
  }
  await sendParts(answer, exchange, (send, stream) =>
    start === undefined
      ? pourEvents(reader, send, stream)
      : pour(answer, { reader, start, signal }, send, stream),
  )
}

/** Writes pieces as one part of an answer. */
type SendPart = (pieces: readonly Uint8Array[]) => void

/** Sends an answer whose length is not known. One that breaks off must not end like a complete one. */
async function sendParts(
  answer: Response,
  exchange: Exchange,
  pourAll: (send: SendPart, stream: AnswerStream) => Promise<void>,
): Promise<void> {
  const stream = exchange.beginAnswer()
  // HTTP/1.0 has no chunks: the end of the connection is the end of the answer.
  const isChunked = !exchange.head.isHttp10
  sendHead(answer, exchange, stream, isChunked ? 'Transfer-Encoding: chunked\r\n' : '')
  try {
    await pourAll((pieces) => sendPart(stream, pieces, isChunked), stream)
  } catch {
    return exchange.abort()
  }
  if (isChunked) stream.write(LAST_CHUNK)
  stream.end(!isChunked)
}

/** Sends events as they occur. Each is made only after the client has taken the one before. */
async function pourEvents(reader: PieceReader, send: SendPart, stream: AnswerStream): Promise<void> {
  stream.lasts()
  for (;;) {
    const piece = await reader.read()
    if (piece.done) return
    send([piece.value])
    await stream.drained()
  }
}

type Piece = { readonly done: false; readonly value: Uint8Array } | { readonly done: true }

interface PieceReader {
  read(): Promise<Piece>
  cancel(): Promise<void>
}

/** The part of an answer that could be read without waiting, and the pending read after it. */
interface Available {
  readonly pieces: Uint8Array[]
  readonly isEnd: boolean
  readonly next: Promise<Piece>
}

/**
 * Reads until the next read would wait. An answer that is complete already is read within this turn of the event loop.
 */
async function readAvailable(
  reader: PieceReader,
  begun: Promise<Piece>,
  bytesMax: number,
): Promise<Available> {
  const pieces: Uint8Array[] = []
  const turn = new Promise<undefined>((resolve) => setImmediate(resolve))
  let next = begun
  for (let bytes = 0; ; next = reader.read()) {
    // The promise may be awaited only later. Until then its failure must not count as unhandled.
    next.catch(() => {})
    const piece = bytes > bytesMax ? undefined : await Promise.race([next, turn])
    if (piece === undefined) return { pieces, isEnd: false, next }
    if (piece.done) return { pieces, isEnd: true, next }
    pieces.push(piece.value)
    bytes += piece.value.length
  }
}

function sendWhole(answer: Response, exchange: Exchange, body: readonly Uint8Array[]): void {
  const stream = exchange.beginAnswer()
  const hasLength = answer.status !== 204 && answer.status !== 304
  const framing = hasLength ? `Content-Length: ${bytesOf(body)}\r\n` : ''
  const head = headBytes(answer, stream.closes, framing)
  writeJoined(stream, exchange.head.method === 'HEAD' ? [head] : [head, ...body])
  stream.end()
}

/**
 * Sends the answer as it is made, each part after the client has taken the one before. Pieces that are available
 * together, such as the lines of an event, form one part.
 *
 * @throws the signal's reason when the client hangs up first: reading then ends as at the end of a whole answer, and
 *   one that has half-closed would take the part that it has for all of it
 */
async function pour(
  answer: Response,
  { reader, start, signal }: { reader: PieceReader; start: Available; signal: AbortSignal },
  send: SendPart,
  stream: AnswerStream,
): Promise<void> {
  let held = heldBytesOf(answer)
  for (let available = start; ; available = await readAvailable(reader, available.next, GATHERED_BYTES_MAX)) {
    if (available.isEnd) signal.throwIfAborted()
    const length = bytesOf(available.pieces)
    held = Math.max(0, held - length)
    stream.holds(held)
    if (length > 0) send(available.pieces)
    await stream.drained()
    if (available.isEnd) return
    // A fast client takes a part within the turn that sent it.
    if (slices.areDue) await slices.next()
    await available.next
  }
}

function sendHead(answer: Response, exchange: Exchange, stream: AnswerStream, framing: string): void {
  stream.write(headBytes(answer, stream.closes || exchange.head.isHttp10, framing))
}

function headBytes(answer: Response, closes: boolean, framing: string): Buffer {
  let head = `${statusLine(answer.status)}Date: ${currentDate()}\r\n`
  for (const [name, value] of answer.headers) if (!NOT_TAKEN_OVER.has(name)) head += `${name}: ${value}\r\n`
  return Buffer.from(`${head}${framing}${connectionFields(closes)}\r\n`, 'latin1')
}

function sendPart(stream: AnswerStream, pieces: readonly Uint8Array[], isChunked: boolean): void {
  writeJoined(stream, isChunked ? [chunkStart(bytesOf(pieces)), ...pieces, LINE_END] : pieces)
}

function chunkStart(length: number): Buffer {
  return Buffer.from(`${length.toString(16)}\r\n`)
}

/** Writes short parts together, and long ones separately. */
function writeJoined(stream: AnswerStream, parts: readonly Uint8Array[]): void {
  if (bytesOf(parts) <= JOINED_BYTES_MAX) stream.write(Buffer.concat(parts))
  else for (const part of parts) stream.write(bufferOf(part))
}

function bytesOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0)
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}
