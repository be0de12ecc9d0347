import { STATUS_CODES } from 'node:http'

/** How an answer goes out. */
export interface AnswerForm {
  /** To a HEAD: without the body. */
  readonly isHead: boolean
  /** The connection ends with this answer. */
  readonly closes: boolean
}

const CLOSE = 'Connection: close\r\n'
const DATE_PLACE = 'Thu, 01 Jan 1970 00:00:00 GMT'
const KEEP_ALIVE_SECONDS = 75
const KEEP_ALIVE = `Connection: keep-alive\r\nKeep-Alive: timeout=${KEEP_ALIVE_SECONDS}\r\n`

/**
 * An answer worked out once and sent any number of times: its bytes are ready, and only the date in them changes, once a
 * second.
 */
export class ReadyAnswer {
  readonly #status: number
  readonly #head: string
  readonly #body: string
  readonly #forms: (DatedBytes | undefined)[] = [undefined, undefined, undefined, undefined]

  /** @param headers names and values in turn, so that repeats and their order survive; one character a byte */
  constructor(status: number, headers: readonly string[], body: string) {
    this.#status = status
    let head = ''
    for (let index = 0; index + 1 < headers.length; index += 2)
      head += `${headers[index]}: ${headers[index + 1]}\r\n`
    this.#head = head
    this.#body = body
  }

  /** The bytes to send now; to be written before anything else is asked of this answer. */
  bytes({ isHead, closes }: AnswerForm): Buffer {
    const form = (isHead ? 1 : 0) + (closes ? 2 : 0)
    const made = this.#forms[form] ?? this.#make(isHead, closes)
    this.#forms[form] = made
    return made.at(currentDate())
  }

  #make(isHead: boolean, closes: boolean): DatedBytes {
    const start = statusLine(this.#status)
    const rest = `${this.#head}${closes ? CLOSE : KEEP_ALIVE}\r\n`
    const head = Buffer.from(`${start}Date: ${DATE_PLACE}\r\n${rest}`, 'latin1')
    const body = isHead ? Buffer.alloc(0) : Buffer.from(this.#body)
    return new DatedBytes(Buffer.concat([head, body]), start.length + 'Date: '.length)
  }
}

class DatedBytes {
  #date = DATE_PLACE

  constructor(
    readonly bytes: Buffer,
    readonly dateAt: number,
  ) {}

  at(date: string): Buffer {
    if (date !== this.#date) {
      this.bytes.write(date, this.dateAt, 'latin1')
      this.#date = date
    }
    return this.bytes
  }
}

let dateSecond = 0
let date = DATE_PLACE

/** The present second, as the `Date` field says it. */
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

/** The fields that say what becomes of the connection. */
export function connectionFields(closes: boolean): string {
  return closes ? CLOSE : KEEP_ALIVE
}
