import { jsonBody } from '../message/index.ts'
import type { Evidence } from './evidence.ts'
import { urlPieces, withoutPort, withoutQuery, withPort } from './publicUrl.ts'

/** A body before a change that may have happened between signing and arrival, with the words for a note. */
export interface AlteredBody {
  readonly body: Uint8Array
  readonly words: string
}

const utf8 = new TextEncoder()

/** The bodies that the received one may have been when it was signed. */
export function* alteredBodies(body: Uint8Array): Generator<AlteredBody> {
  const text = Buffer.from(body).toString('latin1')
  const seen = new Set([text])
  for (const [altered, words] of alterations(text)) {
    if (seen.has(altered)) continue
    seen.add(altered)
    yield { body: Buffer.from(altered, 'latin1'), words }
  }
  for (const { written, words } of jsonWritings(body)) {
    const bytes = utf8.encode(written)
    const name = Buffer.from(bytes).toString('latin1')
    if (!seen.has(name)) yield { body: bytes, words }
    seen.add(name)
  }
}

function* alterations(text: string): Generator<readonly [altered: string, words: string]> {
  yield [text.replace(/\r?\n$/, ''), 'it matches once a trailing newline is removed']
  yield [`${text}\n`, 'it matches with a trailing newline, which was lost on the way']
  yield [`${text}\r\n`, 'it matches with a trailing CRLF, which was lost on the way']
  yield [text.trim(), 'it matches once blanks around the body are removed']
  yield [text.replace(/^\xef\xbb\xbf/, ''), 'it matches once the byte order mark is removed']
  yield [text.replaceAll('\r\n', '\n'), 'it matches with LF line ends in the body']
  yield [text.replace(/\r?\n/g, '\r\n'), 'it matches with CRLF line ends in the body']
  yield ['', 'it matches an empty body: the sender signed before it had the body']
}

const STRING_OR_BLANK = /("[^"\\]*(?:\\.[^"\\]*)*")|[ \t\r\n]+/g
const STRING_OR_SEPARATOR = /("[^"\\]*(?:\\.[^"\\]*)*")|([,:])/g

/**
 * The same JSON as common libraries write it. Only whitespace of the text changes, so that numbers keep their digits.
 */
function* jsonWritings(body: Uint8Array): Generator<{ written: string; words: string }> {
  const { kind, value } = jsonBody({ body, bodyTruncated: false, contentType: null })
  if (kind !== 'json') return
  const words = (style: string) => `it matches the same JSON written ${style}: the body was re-serialised`
  const compact = Buffer.from(body).toString('utf8').replace(STRING_OR_BLANK, '$1')
  const spaced = compact.replace(STRING_OR_SEPARATOR, (_, string, mark) => string ?? `${mark} `)
  const plain = JSON.stringify(value)
  yield { written: compact, words: words('compactly') }
  yield { written: spaced, words: words('with a blank after each comma and colon') }
  yield { written: plain, words: words('compactly') }
  yield { written: JSON.stringify(value, null, 2), words: words('with indentation') }
  for (const written of [compact, spaced]) {
    yield { written: escapeNonAscii(written), words: words('with \\u escapes') }
    yield { written: escapeNonAscii(written).replaceAll('/', '\\/'), words: words('with escaped slashes') }
  }
  yield { written: compact.replaceAll('\\/', '/'), words: words('without escaped slashes') }
}

function escapeNonAscii(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The URLs that the sender may have signed instead of the public one. */
export function* alteredUrls(evidence: Evidence): Generator<{ url: string; words: string }> {
  const { url } = evidence
  const pieces = urlPieces(url)
  if (pieces === undefined) return
  const { scheme, authority, path, query } = pieces
  const signed = 'it matches another spelling of the URL: the provider has it'
  const other = scheme === 'https' ? 'http' : 'https'
  yield { url: `${other}://${authority}${path}${query}`, words: `${signed} with ${other}` }
  yield { url: withoutQuery(url), words: `${signed} without the query` }
  yield { url: `${scheme}://${authority}${path}/${query}`, words: `${signed} with a slash at the end` }
  yield {
    url: `${scheme}://${authority}${path.replace(/\/$/, '')}${query}`,
    words: `${signed} without the slash at the end`,
  }
  yield { url: withPort(url), words: `${signed} with the port` }
  yield { url: withoutPort(url), words: `${signed} without the port` }
  const host = evidence.header('host')
  if (host === undefined || host.length > 255) return
  const words = 'it matches the host that the request names, not the public capture URL'
  yield { url: `https://${host}${path}${query}`, words }
  yield { url: `http://${host}${path}${query}`, words }
}
