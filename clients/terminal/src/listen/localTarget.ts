import { usageError } from '../clientError.ts'

/** Depth of nested percent-encodings that is checked. A path with deeper nesting is not sent. */
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

/** Characters that cannot be in a request target and are percent-encoded. */
const NOT_IN_TARGET = /[^!-"$-[\]-~]/gu
const NOT_IN_PATH = /[^!-"$->@-[\]-~]/gu

/** The part of a captured request that is appended to the target. */
export interface CapturedTarget {
  /** Empty, or begins with a slash. */
  readonly path: string
  /** Without the question mark. */
  readonly queryString: string | null
}

/** The target of `--to`: one host, one port, one base path. */
export interface LocalTarget {
  /** As the user typed it, with a scheme and without trailing slashes. */
  readonly url: string
  /**
   * The URL of a captured request. Host, port and base path are always those of the target. Path and query follow as
   * they were sent; characters that a request line cannot hold are percent-encoded.
   *
   * @returns undefined when the path does not begin with a slash, or when a server might read it as leading out of the
   *   base path (`..` in any encoding)
   */
  urlOf(captured: CapturedTarget): string | undefined
}

/** Whether a text names a target: a port, `host:port`, or a URL. */
export function isTarget(text: string): boolean {
  return /^:?\d{1,5}(\/|$)/.test(text) || /^https?:\/\//.test(text) || /^[\w.-]+:\d{1,5}(\/|$)/.test(text)
}

/**
 * Parses a target: `3000` is `http://localhost:3000`.
 *
 * @throws ClientError when it is invalid
 */
export function localTarget(target: string): LocalTarget {
  const text =
    /^:?\d/.test(target) && !/^[\d.]+:/.test(target) ? `localhost:${target.replace(/^:/, '')}` : target
  const written = /^https?:\/\//.test(text) ? text : `http://${text}`
  if (!isTarget(target) || !URL.canParse(written)) {
    throw usageError(
      `"${target}" is not a valid port or URL.`,
      'Write a port (3000), or a URL (http://localhost:3000/hooks).',
    )
  }
  const { origin, pathname, search } = new URL(written)
  const basePath = pathname.replace(/\/+$/, '')
  return {
    url: written.replace(/\/+$/, ''),
    urlOf({ path, queryString }) {
      // A path that begins with a slash ends the authority, so nothing after it can change the host.
      if (path !== '' && !path.startsWith('/')) return undefined
      if (basePath !== '' && mayClimb(path)) return undefined

      const whole = basePath + path.replace(NOT_IN_PATH, percentEncoded)
      const queries = [search.slice(1), queryString ?? ''].filter((part) => part !== '')
      const query = queries.join('&').replace(NOT_IN_TARGET, percentEncoded)
      return `${origin}${whole === '' ? '/' : whole}${query === '' ? '' : `?${query}`}`
    },
  }
}

const percentEncoded = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')

/** Whether any common way to decode and fold paths finds a `..` in it. Takes linear time. */
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
