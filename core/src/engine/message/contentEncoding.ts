import zlib from 'node:zlib'
import { type CapturedRequest, isNamed } from './capturedRequest.ts'

/** A decoded body is at most so many times as long as it arrived, and at most so many bytes. */
const DECODED_MAX = { times: 16, bytes: 10 * 1024 * 1024 } as const
const ENCODINGS_MAX = 3

type Decode = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Buffer

/** Encodings that are decoded, by their names in `Content-Encoding`. */
const DECODERS: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['gzip', zlib.gunzipSync],
  ['x-gzip', zlib.gunzipSync],
  ['br', zlib.brotliDecompressSync],
  ['zstd', zlib.zstdDecompressSync],
  ['deflate', inflate],
])

/** `deflate` means zlib's format; many senders leave its wrapper out. */
function inflate(bytes: Uint8Array, options: { readonly maxOutputLength: number }): Buffer {
  const isWrapped = ((bytes[0] ?? 0) & 0x0f) === 8 && (((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)) % 31 === 0
  return isWrapped ? zlib.inflateSync(bytes, options) : zlib.inflateRawSync(bytes, options)
}

/** Reasons why an encoded body is read as it came. */
export const DECODING_FAULTS = ['too_long', 'invalid', 'unknown_encoding'] as const

export type DecodedBody =
  | { readonly encoding: string; readonly body: Uint8Array; readonly fault: null }
  | { readonly encoding: string; readonly body: null; readonly fault: (typeof DECODING_FAULTS)[number] }

type Encoded = Pick<CapturedRequest, 'body' | 'bodyTruncated' | 'headers'>

interface Known {
  readonly body: Uint8Array
  readonly encoding: string
  readonly decoded: DecodedBody
}

/** The body that was decoded last: a request is evaluated without interruption, and each part of it asks. */
let latest: Known | undefined

/** The value of `Content-Encoding`; undefined if the body is not encoded. */
function encodingOf({ headers }: Pick<Encoded, 'headers'>): string | undefined {
  let encoding: string | undefined
  for (const [name, value] of headers) {
    if (isNamed(name, 'content-encoding')) encoding = encoding === undefined ? value : `${encoding},${value}`
  }
  return encoding === undefined || /^\s*(identity)?\s*$/i.test(encoding) ? undefined : encoding
}

/**
 * Decodes the body of a request as its `Content-Encoding` says, within {@link DECODED_MAX}.
 *
 * @returns undefined if it is not encoded, is empty, or is only the beginning of a body
 */
export function decodedBody(request: Encoded): DecodedBody | undefined {
  const { body } = request
  if (request.bodyTruncated || body.length === 0) return undefined
  const encoding = encodingOf(request)
  if (encoding === undefined) return undefined
  if (latest?.body !== body || latest.encoding !== encoding)
    latest = { body, encoding, decoded: decode(body, encoding) }
  return latest.decoded
}

function decode(body: Uint8Array, encoding: string): DecodedBody {
  const names = encoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
  // RFC 9110 §5.6.1: empty elements of a list are ignored.
  const decoders = names
    .filter((name) => name !== '' && name !== 'identity')
    .map((name) => DECODERS.get(name))
  if (decoders.length > ENCODINGS_MAX || decoders.includes(undefined))
    return { encoding, body: null, fault: 'unknown_encoding' }
  const maxOutputLength = Math.min(DECODED_MAX.bytes, body.length * DECODED_MAX.times)
  try {
    let bytes: Uint8Array = body
    for (const apply of decoders.reverse()) bytes = apply?.(bytes, { maxOutputLength }) ?? bytes
    return bytes.length === 0
      ? { encoding, body: null, fault: 'invalid' }
      : { encoding, body: bytes, fault: null }
  } catch (error) {
    const isTooLong = error instanceof RangeError
    return { encoding, body: null, fault: isTooLong ? 'too_long' : 'invalid' }
  }
}

/**
 * A request as its content is read: with the decoded body, and without `Content-Encoding`. A request that is not
 * encoded, or cannot be decoded, is returned as it is.
 */
export function asRead<Request extends Encoded>(request: Request): Request {
  const decoded = decodedBody(request)
  if (decoded === undefined || decoded.body === null) return request
  return { ...request, body: decoded.body, headers: withoutEncoding(request.headers) }
}

/** The fields without `Content-Encoding`, for a body that is not encoded any more. */
export function withoutEncoding(headers: CapturedRequest['headers']): CapturedRequest['headers'] {
  return headers.filter(([name]) => !isNamed(name, 'content-encoding'))
}

/** The most bytes that are read of a body: more than arrived, if it is encoded. For estimates of time. */
export function readBytesMax(request: Encoded): number {
  const { length } = request.body
  return encodingOf(request) === undefined ? length : Math.min(DECODED_MAX.bytes, length * DECODED_MAX.times)
}

/** Cost of looking at one header, in bytes of body. */
const HEADER_BYTES = 32

/** The most bytes that are read of a whole request, for estimates of time. */
export function lookedAtBytesMax(request: Encoded & Pick<CapturedRequest, 'queryString'>): number {
  const { headers, queryString } = request
  return readBytesMax(request) + headers.length * HEADER_BYTES + (queryString?.length ?? 0)
}
