import type { CapturedRequest } from './capturedRequest.ts'

/** A destination, and what of a captured request follows it. */
export interface Target {
  readonly url: string
  /** Whether the captured path suffix follows the URL's path. */
  readonly appendPath: boolean
  /** Whether the captured query follows the URL's query. */
  readonly appendQuery: boolean
}

/** Depth of nested percent-encodings that is checked. A path with deeper nesting is refused. */
const ENCODING_LAYERS_MAX = 4

/** Percent-encoding of one byte, or of an ASCII character in the form that IIS accepts. */
const ENCODED_BYTE = /%(?:u00)?([0-9a-f]{2})/gi
/** Dot, slash and backslash in two bytes: overlong UTF-8, which some servers decode. */
const OVERLONG: ReadonlyMap<string, string> = new Map([
  ['\u00c0\u00ae', '.'],
  ['\u00c0\u00af', '/'],
  ['\u00c1\u009c', '\\'],
])
/** A segment that a server could read as `..`: control characters and blanks in it are ignored, parameters cut off. */
const PARENT_SEGMENT = /(?:^|[/\\])[\p{Cc}\s]*\.[\p{Cc}\s]*\.(?:[/\\;?#\p{Cc}\s]|$)/u

/**
 * Whether a server might read the path of a forward as leading out of the base path of the destination: by `..` in any
 * encoding, or by a path that does not begin with a slash and so continues the host. Takes linear time.
 */
export function leavesBasePath(
  { url, appendPath }: Pick<Target, 'url' | 'appendPath'>,
  path: string,
): boolean {
  if (!appendPath || path === '') return false
  return !path.startsWith('/') || (new URL(url).pathname !== '/' && mayClimb(path))
}

/** Whether any common way to decode and fold paths finds a `..` in it. */
function mayClimb(path: string): boolean {
  let text = path
  for (let layer = 0; layer <= ENCODING_LAYERS_MAX; layer += 1) {
    if (PARENT_SEGMENT.test(text)) return true
    const decoded = text
      .replace(ENCODED_BYTE, (_encoded, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      .replace(/\u00c0[\u00ae\u00af]|\u00c1\u009c/g, (overlong) => OVERLONG.get(overlong) ?? overlong)
    if (decoded === text) return false
    text = decoded
  }
  return true
}

/**
 * The URL of a forward: the action's URL, with the captured path suffix after its path and the captured query after its
 * query if the action asks for them. Both are appended as captured, escapes included. One slash separates URL and
 * suffix. Only characters that a request target cannot hold are escaped. The caller refuses a path that
 * {@link leavesBasePath}.
 */
export function targetUrl(
  { url, appendPath, appendQuery }: Target,
  { path, queryString }: Pick<CapturedRequest, 'path' | 'queryString'>,
): string {
  const suffix = appendPath ? sendable(path).replaceAll('?', '%3F') : ''
  const more = appendQuery ? sendable(queryString ?? '') : ''
  if (suffix === '' && more === '') return url
  const mark = url.indexOf('?')
  const base = mark < 0 ? url : url.slice(0, mark)
  const query = [mark < 0 ? '' : url.slice(mark + 1), more].filter((part) => part !== '').join('&')
  const target = suffix === '' ? base : `${base.replace(/\/+$/, '')}${suffix}`
  return query === '' ? target : `${target}?${query}`
}

/** Escapes characters that would end the target or the request line: controls, blanks, `#`, backslashes, non-ASCII. */
function sendable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^!"$-[\]-~]/gu, (char) => (char === '#' ? '%23' : encodeURIComponent(char)))
}
