import { createHash, createHmac } from 'node:crypto'
import { Fault } from '../language/fault.ts'
import { RUN_LIMITS } from '../language/limits.ts'
import { utf8Text } from '../language/values.ts'
import { boundedText, define, optional, parameter, tooLarge } from './define.ts'
import { BYTES, KEY, oneOf, TEXT } from './parameters.ts'

const bytes = parameter('s', BYTES)
const text = parameter('s', TEXT)
const encoding = optional('enc', oneOf(['hex', 'base64', 'base64url']), 'hex')

/**
 * Functions of rules that write bytes as text and read them back; decoders fault on text that is not in the
 * encoding.
 */
export const ENCODING_FUNCTIONS = {
  base64Encode: define('text', [bytes], 'Base64 with padding.', ([data]) => encoded(data, 'base64')),
  base64UrlEncode: define('text', [bytes], 'Base64 for URLs, without padding.', ([data]) =>
    encoded(data, 'base64url'),
  ),
  hexEncode: define('text', [bytes], 'Two lower-case hex digits a byte.', ([data]) => encoded(data, 'hex')),
  urlEncode: define(
    'text',
    [bytes],
    'Percent escapes for all but the unreserved characters of RFC 3986.',
    ([data]) => urlEncode(data),
  ),
  base64Decode: define(
    'text',
    [text],
    'The text that Base64 holds; both alphabets, padded or not.',
    ([data]) => utf8Text(decodeBase64(data)),
  ),
  base64UrlDecode: define('text', [text], 'The same as base64Decode.', ([data]) =>
    utf8Text(decodeBase64(data)),
  ),
  hexDecode: define('text', [text], 'The text that hex digits hold.', ([data]) => {
    if (data.length % 2 === 1 || !/^[0-9a-fA-F]*$/.test(data))
      throw new Fault('bad_encoding', 'The text is not hex.')
    return utf8Text(Buffer.from(data, 'hex'))
  }),
  urlDecode: define('text', [text], 'The text that percent escapes hold; `+` stays itself.', ([data]) =>
    urlDecode(data),
  ),
}

/** Functions of rules for digests and MACs. */
export const DIGEST_FUNCTIONS = {
  md5: digest('md5', 'MD5'),
  sha1: digest('sha1', 'SHA-1'),
  sha256: digest('sha256', 'SHA-256'),
  sha512: digest('sha512', 'SHA-512'),
  hmacSha1: mac('sha1', 'SHA-1'),
  hmacSha256: mac('sha256', 'SHA-256'),
  hmacSha512: mac('sha512', 'SHA-512'),
}

function digest(algorithm: string, name: string) {
  return define('text', [bytes, encoding], `The ${name} digest.`, ([data, enc]) =>
    createHash(algorithm).update(data).digest(enc),
  )
}

function mac(algorithm: string, name: string) {
  return define(
    'text',
    [parameter('data', BYTES), parameter('key', KEY), encoding],
    `The HMAC with ${name}; the key is {"secret":"signing"} or text.`,
    ([data, key, enc]) => createHmac(algorithm, key).update(data).digest(enc),
  )
}

function encoded(data: Uint8Array, form: 'base64' | 'base64url' | 'hex' | 'latin1'): string {
  if (data.length > RUN_LIMITS.textBytes) throw tooLarge()
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString(form)
}

/**
 * The bytes that Base64 holds: either alphabet, padded or not.
 *
 * @throws Fault `bad_encoding`
 */
export function decodeBase64(data: string): Uint8Array {
  const digits = data.replace(/={0,2}$/, '')
  if (digits.length % 4 === 1 || !/^[A-Za-z0-9+/_-]*$/.test(digits)) {
    throw new Fault('bad_encoding', 'The text is not Base64.')
  }
  return Buffer.from(digits, 'base64')
}

const RESERVED = /[^A-Za-z0-9\-._~]/g
const ESCAPES = Array.from(
  { length: 256 },
  (_, byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
)

function urlEncode(data: Uint8Array): string {
  return boundedText(encoded(data, 'latin1').replace(RESERVED, (byte) => ESCAPES[byte.charCodeAt(0)] ?? ''))
}

function urlDecode(data: string): string {
  try {
    return decodeURIComponent(data)
  } catch {
    throw new Fault('bad_encoding', 'The text has percent escapes that hold no text.')
  }
}
