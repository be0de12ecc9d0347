// An `import` of a CommonJS module defines a getter for each key of what it exports: here, for each of 54,000 bytes.
import wasm = require('undici/lib/llhttp/llhttp_simd-wasm.js')

/** Callbacks of the parser. Positions are in the bytes that were handed over, lengths in bytes. */
export interface ParseEvents {
  /** A part of a field's name, or of its value. A name that is split over reads is reported in parts. */
  onFieldName(at: number, length: number): void
  onFieldValue(at: number, length: number): void
  onHeadEnd(shouldKeepAlive: boolean): void
  /** A part of the payload of a chunked body. */
  onBody(at: number, length: number): void
  onMessageEnd(): void
}

export interface Parsed {
  /** Bytes that were read. */
  readonly length: number
  /** The parser's message when the input is not HTTP; else undefined. */
  readonly error: string | undefined
}

/** Bytes that are handed to the parser at once. */
const SLICE_BYTES_MAX = 64 * 1024

const REQUEST = 1
const OK = 0
const PAUSED = 21

interface LlhttpExports {
  readonly memory: WebAssembly.Memory
  readonly malloc: (bytes: number) => number
  readonly llhttp_alloc: (type: number) => number
  readonly llhttp_free: (parser: number) => void
  readonly llhttp_reset: (parser: number) => void
  readonly llhttp_resume: (parser: number) => void
  readonly llhttp_execute: (parser: number, at: number, length: number) => number
  readonly llhttp_get_error_pos: (parser: number) => number
  readonly llhttp_get_error_reason: (parser: number) => number
  readonly llhttp_get_http_major: (parser: number) => number
  readonly llhttp_get_http_minor: (parser: number) => number
}

const FUNCTIONS = [
  'malloc',
  'llhttp_alloc',
  'llhttp_free',
  'llhttp_reset',
  'llhttp_resume',
  'llhttp_execute',
  'llhttp_get_error_pos',
  'llhttp_get_error_reason',
  'llhttp_get_http_major',
  'llhttp_get_http_minor',
]

/** Callbacks of the current read. The parser calls them while it reads, and only one parser reads at a time. */
let events: ParseEvents | undefined
/** Offset from the parser's addresses to positions in the bytes that were handed over. */
let shift = 0

const { exports } = new WebAssembly.Instance(new WebAssembly.Module(wasm), {
  env: {
    wasm_on_message_begin: () => OK,
    wasm_on_status: () => OK,
    wasm_on_url: () => OK,
    wasm_on_header_field: (_: number, at: number, length: number) => {
      events?.onFieldName(at + shift, length)
      return OK
    },
    wasm_on_header_value: (_: number, at: number, length: number) => {
      events?.onFieldValue(at + shift, length)
      return OK
    },
    wasm_on_headers_complete: (_: number, _status: number, _upgrade: number, keepAlive: number) => {
      events?.onHeadEnd(keepAlive !== 0)
      return PAUSED
    },
    wasm_on_body: (_: number, at: number, length: number) => {
      events?.onBody(at + shift, length)
      return OK
    },
    wasm_on_message_complete: () => {
      events?.onMessageEnd()
      return PAUSED
    },
  },
})

function isLlhttp(candidate: unknown): candidate is LlhttpExports {
  if (typeof candidate !== 'object' || candidate === null) return false
  return (
    FUNCTIONS.every((name) => typeof Reflect.get(candidate, name) === 'function') && 'memory' in candidate
  )
}

if (!isLlhttp(exports))
  throw new Error('The llhttp of this undici is another than this program was written for.')
const llhttp = exports

/**
 * Replaces the request line. RequestLine reads the real one up to the end of the target, because it accepts raw bytes
 * and methods that llhttp does not know.
 */
const LINE_START = Buffer.from('POST /')
const scratch = llhttp.malloc(LINE_START.length + SLICE_BYTES_MAX)
const sliceAt = scratch + LINE_START.length
let memory = Buffer.from(llhttp.memory.buffer)

/** The memory as a buffer. The memory moves when it grows. */
function parserMemory(): Buffer {
  if (memory.buffer !== llhttp.memory.buffer) memory = Buffer.from(llhttp.memory.buffer)
  return memory
}

/**
 * llhttp for one request at a time. It reads what follows the target (version, fields) and the framing of chunked
 * bodies. It stops after each head, because a body with a length needs no parser, and after a chunked message. Must be
 * freed.
 */
export class Parser {
  readonly #parser = llhttp.llhttp_alloc(REQUEST)

  /** Begins a request. Pass the bytes that follow its target next. */
  begin(): void {
    llhttp.llhttp_reset(this.#parser)
    const written = parserMemory()
    LINE_START.copy(written, scratch)
    llhttp.llhttp_execute(this.#parser, scratch, LINE_START.length)
  }

  /**
   * Reads on, at most {@link SLICE_BYTES_MAX} bytes.
   *
   * @param from where in `bytes` to begin
   */
  read(bytes: Buffer, from: number, to: number, listener: ParseEvents): Parsed {
    const length = bytes.copy(parserMemory(), sliceAt, from, Math.min(to, from + SLICE_BYTES_MAX))
    events = listener
    shift = from - sliceAt
    const code = llhttp.llhttp_execute(this.#parser, sliceAt, length)
    events = undefined
    if (code === OK) return { length, error: undefined }
    const readLength = llhttp.llhttp_get_error_pos(this.#parser) - sliceAt
    if (code !== PAUSED) return { length: readLength, error: this.#reason() }
    llhttp.llhttp_resume(this.#parser)
    return { length: readLength, error: undefined }
  }

  /** The version of the head that was read: 11 for HTTP/1.1. */
  get version(): number {
    return llhttp.llhttp_get_http_major(this.#parser) * 10 + llhttp.llhttp_get_http_minor(this.#parser)
  }

  free(): void {
    llhttp.llhttp_free(this.#parser)
  }

  #reason(): string {
    const at = llhttp.llhttp_get_error_reason(this.#parser)
    const text = parserMemory()
    return text.toString('latin1', at, text.indexOf(0, at))
  }
}
