import { STATUS_CODES } from 'node:http'
import { nextTraceId } from './traceIds.ts'

/** Variants of how an answer is sent. */
export interface AnswerForm {
  /** Answers a HEAD, so the body is left out. */
  readonly isHead: boolean
  /** The connection ends with this answer. */
  readonly closes: boolean
  /** 32 hex digits, for `creel-trace-id`; a new one by default. */
  readonly traceId?: string
}

const CLOSE = 'Connection: close\r\n'
const TRACE_PLACE = '0'.repeat(32)
const DATE_PLACE = 'Thu, 01 Jan 1970 00:00:00 GMT'
const KEEP_ALIVE_SECONDS = 75
const KEEP_ALIVE = `Connection: keep-alive\r\nKeep-Alive: timeout=${KEEP_ALIVE_SECONDS}\r\n`

/**
 * An answer that is built once and sent any number of times. Its bytes are ready; only the date, once a second, and the
 * trace id change.
 */
export class ReadyAnswer {
  readonly #status: number
  readonly #headers: readonly string[]
  readonly #body: string
  readonly #forms: (DatedBytes | undefined)[] = [undefined, undefined, undefined, undefined]
  #extended: { readonly by: readonly string[]; readonly answer: ReadyAnswer } | undefined

  /** @param headers names and values in turn, which keeps repeats and their order; one character a byte */
  constructor(status: number, headers: readonly string[], body: string) {
    this.#status = status
    this.#headers = headers
    this.#body = body
  }

  /** Whether it has a header of this name, which is in lower case. */
  has(name: string): boolean {
    return this.#headers.some((given, at) => at % 2 === 0 && given.toLowerCase() === name)
  }

  /** The same answer with further headers, names and values in turn. It is kept, and the same list gives it again. */
  with(headers: readonly string[]): ReadyAnswer {
    const made = () => new ReadyAnswer(this.#status, [...this.#headers, ...headers], this.#body)
    if (this.#extended?.by !== headers) this.#extended = { by: headers, answer: made() }
    return this.#extended.answer
  }

  /** The same answer for callers in the process. A server sets the fields of the connection. */
  toResponse({ isHead, traceId }: Omit<AnswerForm, 'closes'>): Response {
    const headers = new Headers()
    for (const [name, value] of this.#fields()) {
      if (name.toLowerCase() !== 'content-length') headers.append(name, value)
    }
    if (traceId !== undefined) headers.set('creel-trace-id', traceId)
    const hasBody = !isHead && this.#body !== ''
    return new Response(hasBody ? this.#body : null, { status: this.#status, headers })
  }

  *#fields(): Generator<readonly [string, string]> {
    for (let index = 0; index + 1 < this.#headers.length; index += 2) {
      yield [this.#headers[index] ?? '', this.#headers[index + 1] ?? '']
    }
  }

  /** The bytes to send now. Write them before the next call: the buffer is reused. */
  bytes({ isHead, closes, traceId = nextTraceId() }: AnswerForm): Buffer {
    const form = (isHead ? 1 : 0) + (closes ? 2 : 0)
    const made = this.#forms[form] ?? this.#make(isHead, closes)
    this.#forms[form] = made
    return made.at(currentDate(), traceId)
  }

  #make(isHead: boolean, closes: boolean): DatedBytes {
    const start = statusLine(this.#status)
    let fields = ''
    for (const [name, value] of this.#fields()) fields += `${name}: ${value}\r\n`
    const rest = `${fields}${closes ? CLOSE : KEEP_ALIVE}\r\n`
    const lead = `${start}Date: ${DATE_PLACE}\r\ncreel-trace-id: `
    const head = Buffer.from(`${lead}${TRACE_PLACE}\r\n${rest}`, 'latin1')
    const body = isHead ? Buffer.alloc(0) : Buffer.from(this.#body)
    return new DatedBytes(Buffer.concat([head, body]), start.length + 'Date: '.length, lead.length)
  }
}

class DatedBytes {
  #date = DATE_PLACE

  constructor(
    readonly bytes: Buffer,
    readonly dateAt: number,
    readonly traceIdAt: number,
  ) {}

  at(date: string, traceId: string): Buffer {
    this.bytes.write(traceId, this.traceIdAt, 'latin1')
    if (date !== this.#date) {
      this.bytes.write(date, this.dateAt, 'latin1')
      this.#date = date
    }
    return this.bytes
  }
}

let dateSecond = 0
let date = DATE_PLACE

/** The current second, as the `Date` field writes it. */
export function currentDate(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    date = new Date(second * 1000).toUTCString()
  }
  return date
}

/** The first line of an answer. */
export function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Status'}\r\n`
}

/** The fields about the connection's lifetime. */
export function connectionFields(closes: boolean): string {
  return closes ? CLOSE : KEEP_ALIVE
}
