import type { WireHeader } from '@creel/core/engine/message'
import { GrowingBuffer } from './inputBuffers.ts'
import { type ParseEvents, Parser } from './llhttp.ts'
import { headOf, isRefusal, type Refusal, type RequestHead, RequestLine } from './requestHead.ts'

/** Limits of a head; beyond them it is refused with 431. */
export interface HeadLimits {
  /** Request line, fields and separators; trailers have the same limit again. */
  readonly headBytesMax: number
  readonly fieldsMax: number
}

/** Limit for chunk framing: 64 KiB plus 16 times the payload. */
const OVERHEAD_BYTES_MAX = 64 * 1024
const OVERHEAD_FACTOR = 16

/** Chunks that are read at once. Their joined payload reuses memory, where that of a larger piece would be new each time. */
const CHUNKS_BYTES_MAX = 64 * 1024

/** Characters of the target that a refusal keeps. */
const TARGET_START_BYTES = 1024

const NOTHING: Buffer = Buffer.alloc(0)
const CR = 13
const LF = 10
const TOO_LONG: Refusal = { status: 431, reason: 'the head is too long' }
const TOO_MANY: Refusal = { status: 431, reason: 'the head has too many fields' }

/**
 * Reads the requests of one connection, one at a time: head, body, head, body. The result does not depend on how the
 * bytes are split. It stops after each head and each body, at {@link RequestReader.position}.
 */
export class RequestReader implements ParseEvents {
  readonly #limits: HeadLimits
  readonly #parser = new Parser()
  readonly #line = new RequestLine()
  /** An incomplete head. */
  readonly #held = new GrowingBuffer()
  #targetEnd = -1
  /** Length of the head that the parser has read, the request line included. */
  #headRead = 0
  #base = 0
  #spans: number[] = []
  #keepAlive = true
  #headEnded = false
  #isChunked = false
  /** Bytes that have not arrived, of a body with a length. */
  #bodyLeft = 0
  #bodyEnded = true
  /** Start and length of each piece of payload in the last bytes that the parser got. */
  #payload: number[] = []
  #payloadBytes = 0
  #overheadBytes = 0
  /** Names and values in turn; parts are joined as they arrive. */
  #trailerTexts: string[] = []
  #trailerBytes = 0
  #trailerSource = NOTHING

  /** Offset at which the last call stopped. */
  position = 0

  constructor(limits: HeadLimits) {
    this.#limits = limits
  }

  get isWithinHead(): boolean {
    return this.#held.length > 0
  }

  get bodyEnded(): boolean {
    return this.#bodyEnded
  }

  /** Bytes of the body that have not been read; undefined while a chunked body goes on. */
  get bodyLeft(): number | undefined {
    return this.#isChunked && !this.#bodyEnded ? undefined : this.#bodyLeft
  }

  /** The trailer fields of a chunked body that has ended. */
  get trailers(): readonly WireHeader[] {
    const trailers: WireHeader[] = []
    const texts = this.#trailerTexts
    for (let index = 0; index + 1 < texts.length; index += 2) {
      trailers.push([texts[index] ?? '', (texts[index + 1] ?? '').replace(/[ \t]+$/, '')])
    }
    return trailers
  }

  /**
   * Continues a head, or begins one.
   *
   * @returns the head when it is complete, the reason when it is refused, undefined when more must arrive
   */
  readHead(bytes: Buffer, from: number): RequestHead | Refusal | undefined {
    let start = from
    const heldBefore = this.#held.length
    if (heldBefore === 0) {
      // Empty lines before a request are allowed and ignored.
      while (bytes[start] === CR || bytes[start] === LF) start += 1
      this.#beginHead()
    } else {
      const room = this.#limits.headBytesMax + 1 - heldBefore
      this.#held.append(bytes.subarray(from, from + room))
    }
    const source = heldBefore === 0 ? bytes : this.#held.bytes
    this.#base = heldBefore === 0 ? start : 0
    const refusal = this.#parseHead(source)
    if (refusal !== undefined) return this.#refusalOf(refusal, source)
    if (!this.#headEnded) {
      if (heldBefore === 0 && start < bytes.length) this.#held.append(bytes.subarray(start))
      this.position = bytes.length
      return undefined
    }
    this.position = heldBefore === 0 ? start + this.#headRead : from + this.#headRead - heldBefore
    const taken = this.#takeHead(source)
    const head = isRefusal(taken) ? this.#refusalOf(taken, source) : taken
    this.#held.clear()
    return head
  }

  /**
   * Continues a body.
   *
   * @param isDropped whether the payload is not read on; that of chunks is then empty, because it is not joined
   * @returns the payload that was available, maybe empty, or the reason why the rest is refused
   */
  readBody(bytes: Buffer, from: number, isDropped = false): Buffer | Refusal {
    if (this.#isChunked) return this.#readChunks(bytes, from, isDropped)
    const end = Math.min(bytes.length, from + this.#bodyLeft)
    this.#bodyLeft -= end - from
    this.#bodyEnded = this.#bodyLeft === 0
    this.position = end
    return from === 0 && end === bytes.length ? bytes : bytes.subarray(from, end)
  }

  /** Call when the connection has ended. */
  free(): void {
    this.#parser.free()
  }

  #beginHead(): void {
    this.#line.begin()
    this.#targetEnd = -1
    this.#headRead = 0
    this.#spans = []
    this.#headEnded = false
  }

  /** @param source the message so far begins at `#base` */
  #parseHead(source: Buffer): Refusal | undefined {
    const end = Math.min(source.length, this.#base + this.#limits.headBytesMax)
    if (this.#targetEnd < 0) {
      const found = this.#line.targetEnd(source, this.#base)
      if (found === false) return { status: 400, reason: 'no request line' }
      if (found === undefined) return end < source.length ? TOO_LONG : undefined
      this.#targetEnd = found
      this.#headRead = found
      this.#parser.begin()
    }
    while (!this.#headEnded && this.#base + this.#headRead < end) {
      const { length, error } = this.#parser.read(source, this.#base + this.#headRead, end, this)
      this.#headRead += length
      if (error !== undefined) return { status: 400, reason: error }
    }
    if (this.#spans.length > this.#limits.fieldsMax * 4) return TOO_MANY
    return this.#headEnded || end === source.length ? undefined : TOO_LONG
  }

  #refusalOf(refusal: Refusal, source: Buffer): Refusal {
    const start = this.#base + Math.max(0, this.#line.methodEnd)
    const end = this.#targetEnd < 0 ? source.length : this.#base + this.#targetEnd
    const line = source.toString('latin1', start, Math.min(end, start + TARGET_START_BYTES))
    // The method may be wrong, or be followed by two spaces.
    const target = /^\S* +(\S+)/.exec(line)?.[1]
    return target === undefined ? refusal : { ...refusal, target }
  }

  #takeHead(source: Buffer): RequestHead | Refusal {
    const text = source.toString('latin1', this.#base, this.#base + this.#headRead)
    const spans = { methodEnd: this.#line.methodEnd, targetEnd: this.#targetEnd, fields: this.#spans }
    const head = headOf(text, spans, { version: this.#parser.version, keepAlive: this.#keepAlive })
    this.#trailerTexts = []
    this.#trailerBytes = 0
    this.#payloadBytes = 0
    this.#overheadBytes = 0
    if (isRefusal(head)) return head
    this.#isChunked = head.bodyLength === undefined
    this.#bodyLeft = head.bodyLength ?? 0
    this.#bodyEnded = head.bodyLength === 0
    return head
  }

  #readChunks(bytes: Buffer, from: number, isDropped: boolean): Buffer | Refusal {
    let at = from
    const payloadBefore = this.#payloadBytes
    this.#payload = []
    this.#trailerSource = bytes
    const end = Math.min(bytes.length, from + CHUNKS_BYTES_MAX)
    while (at < end && !this.#bodyEnded) {
      const { length, error } = this.#parser.read(bytes, at, end, this)
      at += length
      if (error !== undefined) return { status: 400, reason: error }
    }
    this.#trailerSource = NOTHING
    this.position = at
    const length = this.#payloadBytes - payloadBefore
    this.#overheadBytes += at - from - length
    if (this.#trailerBytes > this.#limits.headBytesMax) return TOO_LONG
    if (this.#trailerTexts.length > this.#limits.fieldsMax * 2) return TOO_MANY
    if (this.#overheadBytes > OVERHEAD_BYTES_MAX + this.#payloadBytes * OVERHEAD_FACTOR) {
      return { status: 400, reason: 'more framing than body' }
    }
    return isDropped ? NOTHING : this.#takePayload(bytes, length)
  }

  /** A single piece is not copied. Many are joined, so that small chunks cost no more than their bytes. */
  #takePayload(bytes: Buffer, length: number): Buffer {
    const pieces = this.#payload
    const [first] = pieces
    if (first === undefined) return NOTHING
    if (pieces.length === 2) return bytes.subarray(first, first + length)
    const whole = Buffer.allocUnsafeSlow(length)
    let end = 0
    for (let index = 0; index + 1 < pieces.length; index += 2) {
      const start = pieces[index] ?? 0
      end += bytes.copy(whole, end, start, start + (pieces[index + 1] ?? 0))
    }
    return whole
  }

  onFieldName(at: number, length: number): void {
    if (this.#headEnded) this.#addTrailer(at, length, 0)
    else this.#addSpan(at - this.#base, length, 0)
  }

  onFieldValue(at: number, length: number): void {
    if (this.#headEnded) this.#addTrailer(at, length, 1)
    else this.#addSpan(at - this.#base, length, 2)
  }

  onHeadEnd(shouldKeepAlive: boolean): void {
    this.#headEnded = true
    this.#keepAlive = shouldKeepAlive
  }

  onBody(at: number, length: number): void {
    this.#payloadBytes += length
    this.#payload.push(at, length)
  }

  onMessageEnd(): void {
    this.#bodyEnded = true
  }

  /** @param part index of the start within the four numbers of a field; a further part only moves the end */
  #addSpan(at: number, length: number, part: 0 | 2): void {
    const spans = this.#spans
    if (spans.length % 4 === part) spans.push(at, at + length)
    else spans[spans.length - 1] = at + length
  }

  #addTrailer(at: number, length: number, part: 0 | 1): void {
    const texts = this.#trailerTexts
    const text = this.#trailerSource.toString('latin1', at, at + length)
    this.#trailerBytes += length
    if (texts.length % 2 === part) texts.push(text)
    else texts.push(`${texts.pop() ?? ''}${text}`)
  }
}
