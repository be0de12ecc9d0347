import type { ClientBase, Connection } from 'pg'
import type { ItemType } from './binaryArrays.ts'

/** One value of a parameter or of a copied row; null is SQL's NULL. */
export type Field = (buffer: MessageBuffer) => void

/** A value of a type, as a {@link Field}. */
export function field<Value>(type: ItemType<Value>, value: Value | null): Field {
  return (buffer) => buffer.value(type, value)
}

/** A parameter that is encoded already, e.g. by `encodeArray`. */
export function encoded(bytes: Uint8Array): Field {
  return (buffer) => buffer.sized(bytes)
}

/** A row that a statement of a pipeline returned: its columns as text. */
export type TextRow = readonly (string | null)[]

/** An error while statements were encoded. Nothing was sent, and the connection is unchanged. */
export class UnsentError extends Error {}

/**
 * Runs an encoder before anything is sent.
 *
 * @throws UnsentError whose cause is the error of `encode`
 */
export function beforeSending<Encoded>(encode: () => Encoded): Encoded {
  try {
    return encode()
  } catch (cause) {
    throw new UnsentError('Statements could not be written.', { cause })
  }
}

const PARSE = 0x50
const BIND = 0x42
const EXECUTE = 0x45
const SYNC = 0x53
const COPY_DATA = 0x64
const COPY_DONE = 0x63
/** Signature, flags, and the length of an empty extension. */
const COPY_HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const END_OF_ROWS = -1
const BINARY = 1

/**
 * Several statements in one round trip and one transaction. They are sent together. If one fails, those before it are
 * rolled back and those after it are not run. node-postgres does the same with its own queries, but cannot copy rows
 * in.
 *
 * A run may be sent while the previous one is in flight, so that PostgreSQL starts it as soon as that one has ended.
 * Each run is still its own transaction.
 *
 * Each connection has one pipeline, which keeps its buffers.
 */
export class Pipeline {
  private readonly idle: MessageBuffer[] = []
  private buffer = new MessageBuffer()
  private underWay = 0
  private exclusive = 0
  /** Resolves when the last work of {@link exclusively} has ended. */
  private alone: Promise<void> = Promise.resolve()
  private latest: Exchange | undefined

  constructor(private readonly client: ClientBase) {}

  /** Whether another {@link run} would be sent at once, although one is in flight. */
  get mayFollow(): boolean {
    return this.underWay === 1 && this.exclusive === 0
  }

  /**
   * Runs other work on the connection: a transaction of several round trips, or a statement of node-postgres. No
   * {@link run} is sent ahead into it. Meanwhile only the work itself may start one. Such works run one after the other:
   * PostgreSQL takes two transactions of a connection for one, and the error of one would undo the other.
   */
  async exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    const before = this.alone
    const { promise, resolve } = Promise.withResolvers<void>()
    this.alone = promise
    this.exclusive += 1
    try {
      await before
      return await work()
    } finally {
      this.exclusive -= 1
      resolve()
    }
  }

  /** Begins work that is one {@link run}: at once, or when no work of {@link exclusively} is under way. */
  async outside<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.exclusive > 0) await this.alone
    return await work()
  }

  /**
   * Names a statement for {@link execute} on this connection.
   * @throws the error of PostgreSQL
   */
  async prepare(name: string, text: string): Promise<void> {
    await this.run(() => this.buffer.message(PARSE, (buffer) => buffer.text(name).text(text).int16(0)))
  }

  /** Adds a prepared statement; within {@link run}. */
  execute(name: string, parameters: readonly Field[]): void {
    this.bindAndExecute(name, parameters)
  }

  /**
   * Adds a prepared `COPY … FROM STDIN (FORMAT BINARY)`; within {@link run}.
   * @param writeRow the fields of one row, in the order of the statement's columns
   */
  copyIn<Row>(
    name: string,
    columnCount: number,
    rows: readonly Row[],
    writeRow: (buffer: MessageBuffer, row: Row) => void,
  ): void {
    this.bindAndExecute(name, [])
    this.buffer.message(COPY_DATA, (buffer) => {
      buffer.bytes(COPY_HEADER)
      for (const row of rows) {
        buffer.int16(columnCount)
        writeRow(buffer, row)
      }
      buffer.int16(END_OF_ROWS)
    })
    this.buffer.message(COPY_DONE, () => {})
  }

  /**
   * Sends the statements that `add` adds and waits for the commit.
   *
   * @returns the rows of all statements, one after the other
   * @throws UnsentError when `add` throws; otherwise the first error of PostgreSQL. Nothing of the run is stored then,
   *   unless the connection was lost during the commit
   */
  async run(add: () => void): Promise<readonly TextRow[]> {
    // The socket may use the bytes until the answer has come, so each run in flight has its own buffer.
    const buffer = this.idle.pop() ?? new MessageBuffer()
    this.buffer = buffer
    buffer.clear()
    beforeSending(add)
    buffer.message(SYNC, () => {})
    const exchange = new Exchange(buffer.written)
    // node-postgres sends a query when the one before has ended, but dispatches answers to its queries in order. So
    // this one may be sent before its turn comes.
    const before = this.mayFollow ? this.latest?.sentOn : undefined
    if (before !== undefined) exchange.submit(before)
    this.client.query(exchange)
    this.latest = exchange
    this.underWay += 1
    try {
      const rows = await exchange.rows
      // The buffer of a failed exchange may still be in use, and is not kept.
      this.idle.push(buffer)
      return rows
    } finally {
      this.underWay -= 1
    }
  }

  private bindAndExecute(name: string, parameters: readonly Field[]): void {
    this.buffer.message(BIND, (buffer) => {
      buffer.text('').text(name).int16(1).int16(BINARY).int16(parameters.length)
      for (const write of parameters) write(buffer)
      buffer.int16(0)
    })
    this.buffer.message(EXECUTE, (buffer) => buffer.text('').int32(0))
  }
}

/** The handler that node-postgres calls for the messages of an answer. */
class Exchange {
  private readonly received: TextRow[] = []
  private readonly done = Promise.withResolvers<readonly TextRow[]>()
  /** The connection on which it was sent; undefined before. */
  sentOn: Connection | undefined
  readonly rows = this.done.promise

  constructor(private readonly messages: readonly Uint8Array[]) {}

  /** Sends the messages. Further calls are no-ops. */
  submit(connection: Connection): void {
    if (this.sentOn !== undefined) return
    this.sentOn = connection
    for (const piece of this.messages) connection.stream.write(piece)
  }

  handleDataRow({ fields }: { readonly fields: TextRow }): void {
    this.received.push(fields)
  }

  handleError(error: Error): void {
    this.done.reject(error)
  }

  handleReadyForQuery(): void {
    this.done.resolve(this.received)
  }

  handleRowDescription(): void {}
  handleCommandComplete(): void {}
  handleCopyInResponse(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
}

const FIRST_BYTES = 64 * 1024
/** Memory above this size, from a large batch, is released by {@link MessageBuffer.clear}. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024
/** Longer values are sent from where they are: copying them takes more than a write of their own. */
const COPIED_BYTES_MAX = 256 * 1024
const NULL_LENGTH = -1

/** Buffer for consecutive messages of PostgreSQL's protocol. It grows as needed. */
export class MessageBuffer {
  private memory = Buffer.allocUnsafe(FIRST_BYTES)
  private end = 0
  /** Long values, and the places in the memory before which they are sent. */
  private apart: { readonly at: number; readonly bytes: Uint8Array }[] = []
  private bytesApart = 0

  /** Everything that was written; valid until {@link clear}. */
  get written(): readonly Uint8Array[] {
    let from = 0
    const pieces = this.apart.flatMap(({ at, bytes }) => {
      const before = this.memory.subarray(from, at)
      from = at
      return [before, bytes]
    })
    return [...pieces, this.memory.subarray(from, this.end)]
  }

  clear(): void {
    this.end = 0
    this.apart = []
    this.bytesApart = 0
    if (this.memory.length > KEPT_BYTES_MAX) this.memory = Buffer.allocUnsafe(FIRST_BYTES)
  }

  /** Appends a message with its length, which is set after `write` has written the content. */
  message(type: number, write: (buffer: this) => void): void {
    this.reserve(5)
    this.memory[this.end] = type
    const start = this.end + 1
    const apartBefore = this.bytesApart
    this.end += 5
    write(this)
    this.memory.writeInt32BE(this.end - start + this.bytesApart - apartBefore, start)
  }

  /** Appends a value after its length: a parameter, or a field of a row. */
  value<Value>(type: ItemType<Value>, value: Value | null): this {
    if (value === null) return this.int32(NULL_LENGTH)
    const length = type.byteLength(value)
    this.int32(length)
    if (length > COPIED_BYTES_MAX && value instanceof Uint8Array) {
      this.apart.push({ at: this.end, bytes: value })
      this.bytesApart += length
      return this
    }
    this.reserve(length)
    type.write(this.memory, this.end, value)
    this.end += length
    return this
  }

  /** Appends bytes after their length. */
  sized(bytes: Uint8Array): this {
    return this.int32(bytes.length).bytes(bytes)
  }

  bytes(bytes: Uint8Array): this {
    this.reserve(bytes.length)
    this.memory.set(bytes, this.end)
    this.end += bytes.length
    return this
  }

  /** Appends text and a NUL. */
  text(text: string): this {
    this.reserve(Buffer.byteLength(text) + 1)
    this.end += this.memory.write(text, this.end)
    this.memory[this.end] = 0
    this.end += 1
    return this
  }

  int16(value: number): this {
    this.reserve(2)
    this.end = this.memory.writeInt16BE(value, this.end)
    return this
  }

  int32(value: number): this {
    this.reserve(4)
    this.end = this.memory.writeInt32BE(value, this.end)
    return this
  }

  private reserve(bytes: number): void {
    if (this.end + bytes <= this.memory.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.memory.length * 2, this.end + bytes))
    this.memory.copy(larger, 0, 0, this.end)
    this.memory = larger
  }
}
