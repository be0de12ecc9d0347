import { isUtf8 } from 'node:buffer'
import { type Path, parsePath, requestRoot, someValue } from '../engine/conditions/index.ts'
import { isJsonNumber, numberText } from '../engine/json/index.ts'
import { asRead, type EvaluatedRequest, headerText } from '../engine/message/index.ts'

/** Finds a value in texts and bytes, without case, as a whole word and in the usual escapes. */
export interface ValueFinder {
  inText(text: string | null): boolean
  inBytes(bytes: Uint8Array | null): boolean
  /** Anywhere in a request, or only at the paths, if there are any. */
  inRequest(request: EvaluatedRequest): boolean
}

const WORD = '[\\p{L}\\p{N}_]'

/** Escapes within escapes that are read: a form may have JSON, of which a text is JSON again. */
const ESCAPES_MAX = 3

/**
 * Makes the finder of a value. A longer word that has the value in it does not count: `ada@example.com` is neither in
 * `nada@example.com` nor in `first.ada@example.com`. Escapes of JSON, and percent escapes as in queries and forms, are
 * read, also within each other, and the body as its `Content-Encoding` says, in UTF-8 or Latin-1. Base64 and encrypted
 * texts are not.
 *
 * @param paths valid paths; none for everything
 */
export function valueFinder(value: string, paths: readonly string[]): ValueFinder {
  const wanted = value.toLowerCase()
  const isMail = value.includes('@')
  const before = isMail ? `(?<!${WORD})(?<!${WORD}[.+-])` : `(?<!${WORD})`
  const after = isMail ? `(?!${WORD})(?![.-]${WORD})` : `(?!${WORD})`
  const whole = new RegExp(`${before}${RegExp.escape(wanted)}${after}`, 'u')
  const read: Path[] = paths.flatMap((text) => {
    const parsed = parsePath(text, { every: true, deliveryFacts: false })
    return 'path' in parsed ? [parsed.path] : []
  })

  const isIn = (text: string) => {
    const lower = text.toLowerCase()
    return lower.includes(wanted) && whole.test(lower)
  }
  const inText = (text: string | null): boolean => {
    if (text === null || text === '') return false
    if (isIn(text)) return true
    let read = text
    for (let escapes = 0; escapes < ESCAPES_MAX; escapes += 1) {
      const unescaped = withoutJsonEscapes(read)
      const plain = withoutPercentEscapes(unescaped)
      const found = [unescaped, plain, plain.replaceAll('+', ' ')].some((each) => each !== read && isIn(each))
      if (found || plain === read) return found
      read = plain
    }
    return false
  }
  const inBytes = (bytes: Uint8Array | null) =>
    bytes !== null && (inText(textOf(bytes, 'utf8')) || (!isUtf8(bytes) && inText(textOf(bytes, 'latin1'))))

  return {
    inText,
    inBytes,
    inRequest(request) {
      if (read.length > 0) {
        const root = requestRoot(request)
        return read.some((path) =>
          someValue(root, path, (node) => {
            if (isJsonNumber(node)) return inText(numberText(node))
            return typeof node === 'string' && inText(node)
          }),
        )
      }
      const { path, queryString, contentType, ip, label, eventId, headers, body } = asRead(request)
      return (
        [path, queryString, contentType, ip, label, eventId].some(inText) ||
        headers.some(([, text]) => inText(headerText(text))) ||
        inBytes(body)
      )
    },
  }
}

function withoutJsonEscapes(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-f]{4})|([^u]))/gi,
    (_all, code: string | undefined, mark: string | undefined) => {
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
      return mark !== undefined && 'bfnrt'.includes(mark) ? ' ' : (mark ?? '')
    },
  )
}

const textOf = (bytes: Uint8Array, encoding: 'utf8' | 'latin1') =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(encoding)

/** Runs of escapes are one text of UTF-8, else of Latin-1. */
function withoutPercentEscapes(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    const bytes = Buffer.from(escapes.replaceAll('%', ''), 'hex')
    return textOf(bytes, isUtf8(bytes) ? 'utf8' : 'latin1')
  })
}
