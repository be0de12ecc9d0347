import type { WireHeader } from '@creel/core/engine/message'

/** The head of a request, exactly as it was sent, one character a byte. */
export interface RequestHead {
  readonly method: string
  readonly target: string
  /** In wire order; spelling and repeats are kept. */
  readonly fields: readonly WireHeader[]
  readonly isHttp10: boolean
  /** Whether the sender wants to keep the connection open after the answer. */
  readonly keepAlive: boolean
  /** In bytes; 0 without a body, undefined when it is chunked. */
  readonly bodyLength: number | undefined
  /** The sender waits for `100 Continue` before it sends the body. */
  readonly expectsContinue: boolean
  readonly host: string | undefined
  readonly contentType: string | null
  /** Every `X-Forwarded-For`, in wire order. */
  readonly forwardedFor: readonly string[]
}

export interface Refusal {
  readonly status: 400 | 431 | 505
  /** For the log of the service. */
  readonly reason: string
  /** The start of the request's target, as far as it arrived; absent when a body is refused. */
  readonly target?: string
}

/** @returns whether a step is a refusal: heads and refusals come from the same calls */
export function isRefusal(step: object): step is Refusal {
  return 'reason' in step
}

export interface HeadSpans {
  readonly methodEnd: number
  readonly targetEnd: number
  /** Start and end of each name and of its value: four numbers a field. */
  readonly fields: readonly number[]
}

interface Framing {
  /** 11 for HTTP/1.1. */
  readonly version: number
  readonly keepAlive: boolean
}

/**
 * Builds a head from its text and decides how long the body is. llhttp has already refused input that is not HTTP, two
 * lengths, and a length together with chunks. This function refuses heads that other programs might read differently.
 */
export function headOf(
  text: string,
  spans: HeadSpans,
  { version, keepAlive }: Framing,
): RequestHead | Refusal {
  if (version !== 10 && version !== 11) return { status: 505, reason: 'the version is not HTTP/1' }
  const fields = fieldsOf(text, spans.fields)
  let host: string | undefined
  let contentType: string | null = null
  let length: string | undefined
  let coding: string | undefined
  let expectsContinue = false
  let forwardedFor = NONE
  for (const [name, value] of fields) {
    // Only names of these lengths matter, so most fields are not looked at.
    switch (name.length) {
      case 4:
        if (name.toLowerCase() !== 'host') break
        if (host !== undefined) return { status: 400, reason: 'two Host fields' }
        host = value
        break
      case 6:
        if (name.toLowerCase() === 'expect') expectsContinue = value.toLowerCase() === '100-continue'
        break
      case 12:
        if (contentType === null && name.toLowerCase() === 'content-type') contentType = value
        break
      case 14:
        if (name.toLowerCase() === 'content-length') length = value
        break
      case 15:
        if (name.toLowerCase() === 'x-forwarded-for') forwardedFor = [...forwardedFor, value]
        break
      case 17:
        if (name.toLowerCase() !== 'transfer-encoding') break
        if (coding !== undefined) return { status: 400, reason: 'two Transfer-Encoding fields' }
        coding = value.toLowerCase()
    }
  }
  if (coding !== undefined && (coding !== 'chunked' || version === 10)) {
    return { status: 400, reason: 'a transfer coding other than chunked, or one in HTTP/1.0' }
  }
  const bodyLength = coding === undefined ? Number(length ?? 0) : undefined
  if (bodyLength !== undefined && !Number.isSafeInteger(bodyLength)) {
    return { status: 400, reason: 'a length that is no number' }
  }
  return {
    method: text.slice(0, spans.methodEnd),
    target: text.slice(spans.methodEnd + 1, spans.targetEnd),
    fields,
    isHttp10: version === 10,
    keepAlive,
    bodyLength,
    expectsContinue: expectsContinue && version === 11 && bodyLength !== 0,
    host,
    contentType,
    forwardedFor,
  }
}

const NONE: readonly string[] = []

/** Builds the fields. llhttp does not trim the blanks after a value. */
function fieldsOf(text: string, spans: readonly number[]): WireHeader[] {
  const fields: WireHeader[] = []
  for (let index = 0; index + 3 < spans.length; index += 4) {
    const valueStart = spans[index + 2] ?? 0
    let valueEnd = spans[index + 3] ?? 0
    while (valueEnd > valueStart && isBlank(text.charCodeAt(valueEnd - 1))) valueEnd -= 1
    fields.push([text.slice(spans[index], spans[index + 1]), text.slice(valueStart, valueEnd)])
  }
  return fields
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}

/**
 * The request target as a path: an absolute-form target (`GET http://host/path`, as sent to proxies) loses its origin;
 * every other one stays as it was sent.
 */
export function pathOf(target: string): string {
  if (target.startsWith('/')) return target
  const authority = target.indexOf('://')
  const path = authority < 0 ? -1 : target.indexOf('/', authority + 3)
  return path < 0 ? '/' : target.slice(path)
}

/**
 * The path of a target as a URL can hold it: bytes beyond ASCII are percent-encoded, each as it came, whether they are
 * UTF-8 or not; the others stay as they were sent.
 */
export function asciiPathOf(target: string): string {
  return pathOf(target).replaceAll(
    /[\x80-\xff]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** The characters of a method, RFC 9110 §5.6.2. */
const TOKEN_CHARACTERS = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
const isTokenByte = new Uint8Array(256)
for (const character of TOKEN_CHARACTERS) isTokenByte[character.charCodeAt(0)] = 1

const SPACE = 32
const DELETE = 127
/** Longer than any method in use. */
const METHOD_BYTES_MAX = 128

/**
 * Finds method and target of a request, wherever the bytes are split. llhttp cannot do this: it refuses methods that it
 * does not know and targets with bytes beyond ASCII, and senders use both.
 */
export class RequestLine {
  #next = 0
  #methodEnd = -1

  /** End of the method, from the start of the message. */
  get methodEnd(): number {
    return this.#methodEnd
  }

  begin(): void {
    this.#next = 0
    this.#methodEnd = -1
  }

  /**
   * Continues where the last call stopped.
   *
   * @param base where the message starts in `bytes`
   * @returns the end of the target, from `base`; undefined when it has not arrived; false when this is no request line
   */
  targetEnd(bytes: Buffer, base: number): number | undefined | false {
    const end = bytes.length - base
    let at = this.#next
    if (this.#methodEnd < 0) {
      while (at < end && isTokenByte[bytes[base + at] ?? 0] === 1) at += 1
      if (at > METHOD_BYTES_MAX) return false
      if (at < end) {
        if (at === 0 || bytes[base + at] !== SPACE) return false
        this.#methodEnd = at
        at += 1
      }
    }
    if (this.#methodEnd >= 0) {
      while (at < end && isTargetByte(bytes[base + at] ?? 0)) at += 1
      if (at < end) return bytes[base + at] === SPACE && at > this.#methodEnd + 1 ? at : false
    }
    this.#next = at
    return undefined
  }
}

/** Accepts everything but blanks and control characters; bytes beyond ASCII are kept as they arrived. */
function isTargetByte(byte: number): boolean {
  return byte > SPACE && byte !== DELETE
}
