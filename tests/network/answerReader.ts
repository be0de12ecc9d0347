import { createHash, type Hash } from 'node:crypto'

/** One final answer of a connection, read strictly. */
export interface Answer {
  readonly status: number
  /** Lower-case names. No field that matters here may be repeated. */
  readonly fields: ReadonlyMap<string, string>
  /** Whether the answer says that the connection ends with it. */
  readonly closes: boolean
  readonly bodyBytes: number
  /** First bytes of the body, at most {@link START_BYTES_MAX}, as latin1. */
  readonly bodyStart: string
  /** SHA-256 of the body, in hex. */
  readonly digest: string
}

/** Callbacks for answers, in wire order. */
export interface AnswerEvents {
  /** Whether the answer at this place belongs to a HEAD request, and so has no body. */
  isHead(index: number): boolean
  onInterim(status: number): void
  /** The head of a final answer is read; its body follows. */
  onHead(status: number): void
  onAnswer(answer: Answer): void
}

/** Longest part of a body that is kept. */
const START_BYTES_MAX = 4096
const HEAD_BYTES_MAX = 64 * 1024
const STATUS_LINE = /^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e]+$/
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([\t\x20-\x7e\x80-\xff]*)$/
const CHUNK_SIZE = /^[0-9a-f]{1,8}$/
const ONCE = new Set(['content-length', 'transfer-encoding', 'connection', 'date', 'creel-trace-id'])

/** - `end`: the body ends with the connection */
type State = 'head' | 'length' | 'chunkSize' | 'chunk' | 'chunkEnd' | 'lastLine' | 'end'

/** Bytes that are no well-formed answer. */
export class MalformedAnswer extends Error {}

/** Reads the answers of one connection and accepts only exact framing: no byte may be missing or left over. */
export class AnswerReader {
  readonly #events: AnswerEvents
  #rest: Buffer = Buffer.alloc(0)
  #state: State = 'head'
  #index = 0
  #status = 0
  #fields = new Map<string, string>()
  #left = 0
  #bodyBytes = 0
  #bodyStart = ''
  #hash: Hash = createHash('sha256')

  constructor(events: AnswerEvents) {
    this.#events = events
  }

  /** Whether an answer has begun and not ended. */
  get isWithinAnswer(): boolean {
    return this.#state !== 'head' || this.#rest.length > 0
  }

  /** @throws MalformedAnswer */
  read(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    while (this.#step());
  }

  /** The connection has ended: so has a body that only its end delimits. */
  readEnd(): void {
    if (this.#state === 'end') this.#finish()
  }

  /** @returns whether there may be more to read */
  #step(): boolean {
    switch (this.#state) {
      case 'head':
        return this.#readHead()
      case 'length':
      case 'chunk':
      case 'end':
        return this.#readBody()
      default:
        return this.#readLine()
    }
  }

  #readHead(): boolean {
    const end = this.#rest.indexOf('\r\n\r\n')
    if (end < 0) {
      if (this.#rest.length > HEAD_BYTES_MAX) throw new MalformedAnswer('a head without an end')
      return false
    }
    const [first = '', ...lines] = this.#take(end + 4)
      .toString('latin1')
      .slice(0, -4)
      .split('\r\n')
    const status = Number(STATUS_LINE.exec(first)?.[1])
    if (Number.isNaN(status))
      throw new MalformedAnswer(`no status line: ${JSON.stringify(first.slice(0, 80))}`)
    const fields = fieldsOf(lines)
    if (status < 200) {
      if (lines.length > 0) throw new MalformedAnswer(`an interim answer ${status} with fields`)
      this.#events.onInterim(status)
      return true
    }
    this.#status = status
    this.#fields = fields
    this.#begin()
    return true
  }

  #begin(): void {
    const fields = this.#fields
    const length = fields.get('content-length')
    const coding = fields.get('transfer-encoding')
    for (const name of ['date', 'connection']) {
      if (!fields.has(name)) throw new MalformedAnswer(`an answer ${this.#status} without ${name}`)
    }
    if (length !== undefined && coding !== undefined) throw new MalformedAnswer('a length and a coding')
    if (length !== undefined && !/^\d{1,12}$/.test(length)) throw new MalformedAnswer(`the length ${length}`)
    if (coding !== undefined && coding !== 'chunked') throw new MalformedAnswer(`the coding ${coding}`)
    this.#events.onHead(this.#status)
    const isEmpty = this.#events.isHead(this.#index) || this.#status === 204 || this.#status === 304
    if (isEmpty || length === '0') this.#finish()
    else if (coding !== undefined) this.#state = 'chunkSize'
    else if (length !== undefined) {
      this.#state = 'length'
      this.#left = Number(length)
    } else if (fields.get('connection') === 'close') this.#state = 'end'
    else throw new MalformedAnswer(`an answer ${this.#status} whose end cannot be told`)
  }

  #readBody(): boolean {
    if (this.#rest.length === 0) return false
    const piece = this.#take(
      this.#state === 'end' ? this.#rest.length : Math.min(this.#left, this.#rest.length),
    )
    if (this.#bodyBytes < START_BYTES_MAX) {
      this.#bodyStart += piece.toString('latin1', 0, START_BYTES_MAX - this.#bodyBytes)
    }
    this.#bodyBytes += piece.length
    this.#hash.update(piece)
    if (this.#state === 'end') return false
    this.#left -= piece.length
    if (this.#left > 0) return false
    if (this.#state === 'chunk') this.#state = 'chunkEnd'
    else this.#finish()
    return true
  }

  #readLine(): boolean {
    const end = this.#rest.indexOf('\r\n')
    if (end < 0) {
      if (this.#rest.length > 16) throw new MalformedAnswer('a chunk without a size')
      return false
    }
    const line = this.#take(end + 2)
      .toString('latin1')
      .slice(0, -2)
    if (this.#state === 'chunkSize') {
      if (!CHUNK_SIZE.test(line)) throw new MalformedAnswer(`the chunk size ${JSON.stringify(line)}`)
      this.#left = Number.parseInt(line, 16)
      this.#state = this.#left === 0 ? 'lastLine' : 'chunk'
      return true
    }
    if (line !== '') throw new MalformedAnswer(`${JSON.stringify(line)} behind a chunk`)
    if (this.#state === 'lastLine') this.#finish()
    else this.#state = 'chunkSize'
    return true
  }

  #finish(): void {
    const answer: Answer = {
      status: this.#status,
      fields: this.#fields,
      closes: this.#fields.get('connection') === 'close',
      bodyBytes: this.#bodyBytes,
      bodyStart: this.#bodyStart,
      digest: this.#hash.digest('hex'),
    }
    this.#state = 'head'
    this.#index += 1
    this.#bodyBytes = 0
    this.#bodyStart = ''
    this.#hash = createHash('sha256')
    this.#events.onAnswer(answer)
  }

  #take(length: number): Buffer {
    const taken = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    return taken
  }
}

function fieldsOf(lines: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>()
  for (const line of lines) {
    const [, name, value = ''] = FIELD.exec(line) ?? []
    if (name === undefined) throw new MalformedAnswer(`the field ${JSON.stringify(line.slice(0, 80))}`)
    const key = name.toLowerCase()
    if (ONCE.has(key) && fields.has(key)) throw new MalformedAnswer(`two fields ${name}`)
    fields.set(key, value)
  }
  return fields
}
