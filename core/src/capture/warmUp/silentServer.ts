import { Duplex } from 'node:stream'

const TYPE_BYTES = 1
const LENGTH_BYTES = 4

const READY = message('Z', Buffer.from('I'))
const WELCOME = Buffer.concat([message('R', Buffer.alloc(4)), READY])
const PARSED = message('1')
const BOUND = message('2')
const COPY_IN = message('G', Buffer.from([1, 0, 0]))
const COPIED = message('C', Buffer.from('COPY 1\0'))
const SET = message('C', Buffer.from('SET\0'))
/** Row of a count statement: one endpoint counted, no request evicted. */
const COUNTED = Buffer.concat([
  message('D', Buffer.concat([Buffer.from([0, 2]), column('1'), column('0')])),
  message('C', Buffer.from('SELECT 1\0')),
])

/**
 * The server's end of a database connection, in this process. It reports success for every statement and executes none.
 * It speaks as much of PostgreSQL's protocol as the plain way of captures uses.
 */
export class SilentServer extends Duplex {
  #hasGreeted = false
  #rest: Buffer = Buffer.alloc(0)
  #isCopy = false

  setNoDelay(): void {}
  setKeepAlive(): void {}
  ref(): void {}
  unref(): void {}

  connect(): this {
    setImmediate(() => this.emit('connect'))
    return this
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    const answers: Buffer[] = []
    for (let length = this.#nextLength(); length <= this.#rest.length; length = this.#nextLength()) {
      answers.push(...this.#answersTo(this.#rest.subarray(0, length)))
      this.#rest = this.#rest.subarray(length)
    }
    if (answers.length > 0) this.push(Buffer.concat(answers))
    done()
  }

  /** Length of the first message with its type; infinite until its head has arrived. */
  #nextLength(): number {
    const typeBytes = this.#hasGreeted ? TYPE_BYTES : 0
    if (this.#rest.length < typeBytes + LENGTH_BYTES) return Number.POSITIVE_INFINITY
    return typeBytes + this.#rest.readUInt32BE(typeBytes)
  }

  #answersTo(bytes: Buffer): readonly Buffer[] {
    if (!this.#hasGreeted) {
      this.#hasGreeted = true
      return [WELCOME]
    }
    switch (String.fromCharCode(bytes[0] ?? 0)) {
      case 'Q':
        return [SET, READY]
      case 'P':
        return [PARSED]
      case 'B':
        // The name of the portal, which is empty, comes before that of the statement.
        this.#isCopy =
          bytes.toString('latin1', TYPE_BYTES + LENGTH_BYTES + 1, TYPE_BYTES + LENGTH_BYTES + 5) === 'copy'
        return [BOUND]
      case 'E':
        return [this.#isCopy ? COPY_IN : COUNTED]
      case 'c':
        return [COPIED]
      case 'S':
        return [READY]
      default:
        return []
    }
  }
}

function message(type: string, body: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.from(`${type}\0\0\0\0`, 'latin1')
  head.writeUInt32BE(LENGTH_BYTES + body.length, TYPE_BYTES)
  return Buffer.concat([head, body])
}

function column(text: string): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(text.length)
  return Buffer.concat([length, Buffer.from(text)])
}
