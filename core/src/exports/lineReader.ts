import { randomUUID } from 'node:crypto'
import type { ItemCode } from '../engine/issues.ts'
import { JsonText } from './jsonText.ts'

/** Bytes of a line without the text of its body. */
const LINE_HEAD_BYTES_MAX = 512 * 1024
/** Levels of lists and objects in a line. The service writes three. */
export const LINE_DEPTH_MAX = 32
/** Values and members of a line. A request with 2,000 header fields has 8,000 of them. */
const LINE_VALUES_MAX = 20_000
/** Limit of empty lines, on top of one for each line with content. */
export const EMPTY_LINES_MAX = 10_000

/**
 * Value of the member `body` in {@link RawLine.head} after the body was cut out. It is random, so no sender can guess
 * it.
 */
export const CUT_BODY: string = randomUUID()

/** A line of NDJSON with its number, from 1. */
export interface RawLine {
  readonly number: number
  /** The line without the text of its body. */
  readonly head: Buffer
  /** Text of the body, unescaped, in the sender's encoding, which should be UTF-8; null if none was cut out. */
  readonly body: Buffer | null
}

/** A line that is refused before parsing. */
export interface RefusedLine {
  readonly number: number
  readonly code: ItemCode
  /** Predicate of a sentence about the line. */
  readonly fault: string
}

/** Bytes that are parsed before the reader may pause. */
const STEP_BYTES = 16 * 1024
const [LF, QUOTE, BACKSLASH, COLON, COMMA] = [0x0a, 0x22, 0x5c, 0x3a, 0x2c]
const MARK = Buffer.from(JSON.stringify(CUT_BODY))
const BODY_NAME = Buffer.from('body')

const isBlank = (byte: number) => byte === 0x20 || byte === 0x09 || byte === 0x0d
const isOpening = (byte: number) => byte === 0x7b || byte === 0x5b
const isClosing = (byte: number) => byte === 0x7d || byte === 0x5d

/**
 * Splits NDJSON into lines as it arrives, and cuts the text of each body out of its line. Parses just enough JSON to
 * limit a line before it is parsed: bytes, levels and values of its head, and bytes of its body.
 *
 * Takes linear time, and memory for one line.
 */
export class LineReader {
  readonly #bodyBytesMax: number
  readonly #head = Buffer.alloc(LINE_HEAD_BYTES_MAX)
  #headBytes = 0
  #number = 1
  #filledCount = 0
  #isFilled = false
  #depth = 0
  #values = 0
  #isText = false
  #isEscaped = false
  #textStart = 0
  /** Whether the last string of the outermost object is the name `body`, and whether a colon has followed. */
  #bodyName: 'no' | 'name' | 'colon' = 'no'
  #body: JsonText | null = null
  /** The body that is being read. */
  #open: JsonText | null = null
  #refused: RefusedLine | null = null
  #isOver = false

  /** @param bodyBytesMax limit of a body's text */
  constructor(bodyBytesMax: number) {
    this.#bodyBytesMax = bodyBytesMax
  }

  /** Whether reading has stopped: a line exceeded its length, or there are too many empty ones. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Reads a piece. Yields after short steps, with the lines that end in it. */
  *read(piece: Uint8Array): Generator<RawLine | RefusedLine | undefined, void, undefined> {
    for (let at = 0; at < piece.length && !this.#isOver; ) {
      const stop = Math.min(piece.length, at + STEP_BYTES)
      if (this.#refused !== null) at = this.#skip(piece, at, stop)
      else if (this.#open !== null) at = this.#readBody(this.#open, piece, at, stop)
      else at = this.#readHead(piece, at, stop)
      if (this.#isOver) break
      if (piece[at] === LF && at < stop) {
        at += 1
        yield this.#take()
      } else yield
    }
    if (this.#isOver && this.#refused !== null) yield this.#refused
    if (this.#isOver) this.#refused = null
  }

  /** The last line, if no line feed ends it. */
  end(): RawLine | RefusedLine | undefined {
    return this.#isOver ? undefined : (this.#take() ?? this.#refused ?? undefined)
  }

  /** Reads up to a line feed, the start of a body, or `stop`. */
  #readHead(piece: Uint8Array, from: number, stop: number): number {
    let at = from
    for (; at < stop; at += 1) {
      const byte = piece[at] ?? 0
      if (byte === LF) break
      if (this.#isText) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (byte === BACKSLASH) this.#isEscaped = true
        else if (byte === QUOTE) this.#endText(at - from)
      } else if (byte === QUOTE) {
        if (this.#bodyName === 'colon') return this.#beginBody(piece, from, at)
        this.#isFilled = true
        this.#isText = true
        this.#textStart = this.#headBytes + at - from
        this.#bodyName = 'no'
      } else if (!isBlank(byte)) {
        this.#isFilled = true
        this.#bodyName = byte === COLON && this.#bodyName === 'name' ? 'colon' : 'no'
        if (isOpening(byte)) this.#depth += 1
        else if (isClosing(byte)) this.#depth -= 1
        if (byte === COMMA || isOpening(byte)) this.#values += 1
        if (this.#depth > LINE_DEPTH_MAX) {
          this.#refuse('too_deep', `nests deeper than ${LINE_DEPTH_MAX} levels`)
          return at
        }
        if (this.#values > LINE_VALUES_MAX) {
          this.#refuse('too_many', `has more than ${LINE_VALUES_MAX} values`)
          return at
        }
      }
    }
    this.#append(piece.subarray(from, at))
    return at
  }

  /** Cuts out the string that begins at `at`, if it is the body. */
  #beginBody(piece: Uint8Array, from: number, at: number): number {
    this.#append(piece.subarray(from, at))
    this.#bodyName = 'no'
    const name = this.#head.subarray(this.#textStart + 1, this.#textStart + 1 + BODY_NAME.length)
    if (this.#isOver || !name.equals(BODY_NAME)) return at
    this.#append(MARK)
    this.#open = new JsonText(this.#bodyBytesMax)
    return at + 1
  }

  /** @param length bytes of the piece before the quotation mark that are not in the head yet */
  #endText(length: number): void {
    this.#isText = false
    const bytes = this.#headBytes + length - this.#textStart - 1
    this.#bodyName = this.#depth === 1 && bytes === BODY_NAME.length ? 'name' : 'no'
  }

  #readBody(body: JsonText, piece: Uint8Array, from: number, stop: number): number {
    const at = body.read(piece, from, stop)
    if (body.state === 'ended') {
      this.#body = body
      this.#open = null
    } else if (body.state === 'wrong') this.#refuse('type', 'is not JSON')
    else if (body.state === 'too long') {
      this.#refuseAll('too_long', `has a body of more than ${this.#bodyBytesMax} bytes as text`)
    }
    return at
  }

  #skip(piece: Uint8Array, from: number, stop: number): number {
    const end = piece.subarray(from, stop).indexOf(LF)
    const at = end < 0 ? stop : from + end
    this.#headBytes += at - from
    // A refused line still has a limit, so that skipping ends.
    if (this.#headBytes > LINE_HEAD_BYTES_MAX + this.#bodyBytesMax) this.#isOver = true
    return at
  }

  #append(bytes: Uint8Array): void {
    if (this.#headBytes + bytes.length > LINE_HEAD_BYTES_MAX) {
      this.#refuseAll('too_long', `has more than ${LINE_HEAD_BYTES_MAX} bytes beside its body`)
      return
    }
    this.#head.set(bytes, this.#headBytes)
    this.#headBytes += bytes.length
  }

  #refuse(code: ItemCode, fault: string): void {
    this.#open = null
    this.#refused = { number: this.#number, code, fault }
  }

  #refuseAll(code: ItemCode, fault: string): void {
    this.#refuse(code, fault)
    this.#isOver = true
  }

  /** Takes the line that has ended; undefined if it is empty. The next line begins then. */
  #take(): RawLine | RefusedLine | undefined {
    if (this.#open !== null) this.#refuse('type', 'is not JSON')
    if (this.#refused === null && !this.#isFilled) return this.#takeEmpty()
    const head = () => Buffer.from(this.#head.subarray(0, this.#headBytes))
    const body = this.#body?.take() ?? null
    const line = this.#refused ?? { number: this.#number, head: head(), body }
    this.#filledCount += 1
    this.#begin()
    return line
  }

  #takeEmpty(): undefined {
    if (this.#number - this.#filledCount * 2 > EMPTY_LINES_MAX) {
      this.#refuseAll('too_many', `is one of more than ${EMPTY_LINES_MAX} empty lines`)
    } else this.#begin()
  }

  #begin(): void {
    this.#number += 1
    this.#headBytes = 0
    this.#isFilled = false
    this.#depth = 0
    this.#values = 0
    this.#isText = false
    this.#isEscaped = false
    this.#bodyName = 'no'
    this.#body = null
    this.#refused = null
  }
}
