import { isUtf8 } from 'node:buffer'
import { type Path, parsePath, requestRoot, someValue } from '../engine/conditions/index.ts'
import { isJsonNumber, numberText } from '../engine/json/index.ts'
import { asRead, type CapturedRequest, type EvaluatedRequest, headerText } from '../engine/message/index.ts'

/** A search, in steps of some milliseconds. It begins when the first step is asked for. */
export type Search = Generator<undefined, boolean, undefined>

/** Finds a value in texts and bytes, without case, as a whole word and in the usual escapes. */
export interface ValueFinder {
  inText(text: string | null): Search
  inBytes(bytes: Uint8Array | null): Search
  /** In the values of the headers of a message, and in its body, both as it came and as its `Content-Encoding` says. */
  inMessage(message: Pick<CapturedRequest, 'headers' | 'body' | 'bodyTruncated'>): Search
  /** Anywhere in a request and in remarks on it, or only at the paths, if there are any. */
  inRequest(request: EvaluatedRequest, remarks: readonly string[]): Search
}

/** Finds what one of the searches finds, one after the other. */
export function* anyOf(searches: Iterable<Search>): Search {
  for (const search of searches) if (yield* search) return true
  return false
}

const WORD = '[\\p{L}\\p{N}_]'

/** Escapes within escapes that are read: a form may have JSON, of which a text is JSON again. */
const ESCAPES_MAX = 3

/** The least characters that are read at once. Hostile ones take some milliseconds. */
const PIECE_MIN = 16 * 1024
/** The most characters that escapes make of one, for a value to be found across the border of two pieces. */
const ESCAPED_MAX = 64
/** Characters at a border of pieces in which nothing is found: an escape may be cut there, or a word. */
const MARGIN = 16

/** A piece of a text, and the borders at which the text goes on. */
interface Piece {
  readonly text: string
  readonly isFirst: boolean
  readonly isLast: boolean
}

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
  const before = isMail ? `(?<!${WORD})(?<!${WORD}[.-])` : `(?<!${WORD})`
  const after = isMail ? `(?!${WORD})(?![.-]${WORD})` : `(?!${WORD})`
  // In a form `+` is a space. Which of both it was cannot be told when its escapes are read.
  const pattern = wanted.split(' ').map(RegExp.escape).join('[ +]')
  const whole = new RegExp(`${before}${pattern}${after}`, 'gu')
  const unspaced = (text: string) => (wanted.includes(' ') ? text.replaceAll(' ', '+') : text)
  const hint = unspaced(wanted)
  const overlap = ESCAPED_MAX * (wanted.length + 2 * MARGIN)
  const pieceCharacters = Math.max(PIECE_MIN, 4 * overlap)
  const read: Path[] = paths.flatMap((text) => {
    const parsed = parsePath(text, { every: true, deliveryFacts: false })
    return 'path' in parsed ? [parsed.path] : []
  })

  const isIn = ({ text, isFirst, isLast }: Piece) => {
    const lower = text.toLowerCase()
    if (!unspaced(lower).includes(hint)) return false
    const from = isFirst ? 0 : MARGIN
    const to = isLast ? lower.length : lower.length - MARGIN
    return lower.matchAll(whole).some(({ index }) => index >= from && index + wanted.length <= to)
  }
  const inPiece = (piece: Piece): boolean => {
    if (isIn(piece)) return true
    let known = piece
    for (let escapes = 0; escapes < ESCAPES_MAX; escapes += 1) {
      const unescaped = { ...piece, text: withoutJsonEscapes(known.text) }
      const plain = { ...piece, text: withoutPercentEscapes(unescaped) }
      const found = [unescaped, plain].some((each) => each.text !== known.text && isIn(each))
      if (found || plain.text === known.text) return found
      known = plain
    }
    return false
  }
  function* inText(text: string | null): Search {
    if (text === null || text === '') return false
    for (let from = 0; ; from += pieceCharacters - overlap) {
      const to = from + pieceCharacters
      const isLast = to >= text.length
      if (inPiece({ text: text.slice(from, to), isFirst: from === 0, isLast })) return true
      if (isLast) return false
      yield
    }
  }
  function* inBytes(bytes: Uint8Array | null): Search {
    if (bytes === null) return false
    if (yield* inText(textOf(bytes, 'utf8'))) return true
    return !isUtf8(bytes) && (yield* inText(textOf(bytes, 'latin1')))
  }

  const inMessage: ValueFinder['inMessage'] = function* (message) {
    const { headers, body } = message
    if (yield* anyOf([...headers.map(([, text]) => inText(headerText(text))), inBytes(body)])) return true
    // Decoding ends with the encoded body, and more may follow it, so both are looked at.
    const read = asRead(message)
    return read !== message && (yield* inBytes(read.body))
  }

  return {
    inText,
    inBytes,
    inMessage,
    *inRequest(request, remarks) {
      if (read.length > 0) return yield* anyOf(textsAt(read, request).map(inText))
      const { path, queryString, contentType, ip, label, eventId } = request
      const texts = [path, queryString, contentType, ip, label, eventId, ...remarks]
      return yield* anyOf([...texts.map(inText), inMessage(request)])
    },
  }
}

/** The texts and numbers at paths of a request. */
function textsAt(paths: readonly Path[], request: EvaluatedRequest): readonly string[] {
  const root = requestRoot(request)
  const texts: string[] = []
  for (const path of paths) {
    someValue(root, path, (node) => {
      if (isJsonNumber(node)) texts.push(numberText(node))
      else if (typeof node === 'string') texts.push(node)
      return false
    })
  }
  return texts
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

/** Runs of escapes are one text of UTF-8, else of Latin-1. A character that the border of a piece cuts is left out. */
function withoutPercentEscapes({ text, isFirst, isLast }: Piece): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes: string, at: number) => {
    const bytes = Buffer.from(escapes.replaceAll('%', ''), 'hex')
    const from = !isFirst && at < 3 ? bytes.findIndex((byte) => !isContinuation(byte)) : 0
    const isCut = !isLast && at + escapes.length > text.length - 3
    const kept = bytes.subarray(Math.max(0, from), isCut ? endOfWhole(bytes) : bytes.length)
    return textOf(kept, isUtf8(kept) ? 'utf8' : 'latin1')
  })
}

const isContinuation = (byte: number) => byte >= 0x80 && byte < 0xc0

/** The end of the last whole character of UTF-8. */
function endOfWhole(bytes: Uint8Array): number {
  const last = bytes.findLastIndex((byte) => !isContinuation(byte))
  const first = bytes[last] ?? 0
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1
  return last >= 0 && last + length > bytes.length ? last : bytes.length
}
