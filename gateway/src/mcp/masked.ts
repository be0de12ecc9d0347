import { isCredentialName, MASK } from '@creel/core/exports'
import { inSlices } from '@creel/core/platform/turns'
import { asReadable } from './readable.ts'
import { bodySecrets, pairSecrets, type SecretSpans, unescaped } from './secretSpans.ts'

/** Masks answers of the API for a model. Long texts are masked in slices, so that the event loop is not blocked. */
export interface Masking {
  /** Masks an answer of the API. */
  value(value: unknown): Promise<unknown>
  /**
   * Masks an answer of the API, also where it has a value that is masked in `source`. A part of such a value, or another
   * encoding of it, is shown.
   */
  quoting(answer: unknown, source: () => Promise<unknown>): Promise<unknown>
  /**
   * Masks the part of a text body that begins at `from`.
   *
   * @param start the body up to the end of the part, a character for each byte. Text beyond it is not needed: a secret
   *   that the end cuts is masked
   * @returns the part, a character for each byte
   */
  part(start: string, from: number): Promise<string>
}

/** Masks nothing. */
export const UNMASKED: Masking = {
  value: (value) => Promise.resolve(value),
  quoting: (answer) => Promise.resolve(answer),
  part: (start, from) => Promise.resolve(start.slice(from)),
}

/** Masks the values of headers, members and pairs with the name of a credential. */
export const MASKED: Masking = {
  value: (value) => inSlices(masked(value)),
  async quoting(answer, source) {
    const quotes = new Quotes()
    await inSlices(masked(await source(), '', quotes))
    return await inSlices(quotes.hidden(await inSlices(masked(answer))))
  },
  // Names and delimiters are ASCII, so bytes serve as characters, and a character that the end cuts is kept.
  part: (start, from) => inSlices(withoutSecrets(start, bodySecrets, from)),
}

/** Shorter values occur by chance, and are not searched for. */
const QUOTED_MIN = 6
/**
 * A longer value is compared by its first 256 characters; what follows is masked up to the next character that cannot be
 * part of a token.
 */
const QUOTED_MAX = 256
/** As many values are searched for at most, since a body can have any number. */
const QUOTES_MAX = 100
/** Longer parts of JSON are not searched for values. */
const JSON_MAX = 65_536
/** A plain word within a value, like `Bearer`. */
const PLAIN_WORD = /^[A-Za-z]{1,10}$/
const TOKEN_END = /[^\w.~+/=-]/g
const STEP = 4096

/** Masked values, to be found elsewhere. */
class Quotes {
  readonly #texts = new Set<string>()

  /** Takes what was masked: a text, or a part of a document of JSON. */
  take(value: string, isJson = false): void {
    for (const text of isJson ? textsOf(value) : [value]) this.#takeText(text)
  }

  #takeText(value: string): void {
    if (this.#texts.size >= QUOTES_MAX) return
    const text = value.slice(0, JSON_MAX)
    // Fields have several parts: `Bearer <token>`, `a=<token>; b=<token>`.
    const parts = text
      .split(/[\s;,]+/, QUOTES_MAX)
      .flatMap((part) => [part, part.slice(part.indexOf('=') + 1)])
    for (const one of [text, ...parts.filter((part) => !PLAIN_WORD.test(part))])
      for (const spelled of [one, unescaped(one), JSON.stringify(one).slice(1, -1)])
        if (spelled.length >= QUOTED_MIN && this.#texts.size < QUOTES_MAX)
          this.#texts.add(spelled.slice(0, QUOTED_MAX))
  }

  /** Masks the values in every text of an answer. The time grows with its length only. */
  hidden(answer: unknown): Steps<unknown> {
    const byStart = new Map<string, string[]>()
    for (const text of [...this.#texts].sort((a, b) => b.length - a.length)) {
      const start = text.slice(0, QUOTED_MIN)
      byStart.set(start, [...(byStart.get(start) ?? []), text])
    }
    return withoutQuotes(answer, byStart)
  }
}

/** Texts and numbers of a part of a document of JSON, which may be cut. */
function textsOf(json: string): string[] {
  if (json.length > JSON_MAX) return []
  try {
    const values: unknown[] = [JSON.parse(json)]
    const texts: string[] = []
    for (const value of values) {
      if (typeof value !== 'object' || value === null) texts.push(String(value))
      else for (const inner of Object.values(value)) values.push(inner)
    }
    return texts
  } catch {
    return [json.replaceAll('"', '')]
  }
}

type Starts = ReadonlyMap<string, readonly string[]>

function* withoutQuotes(value: unknown, byStart: Starts): Steps<unknown> {
  if (typeof value === 'string') return yield* withoutQuotesIn(value, byStart)
  if (typeof value !== 'object' || value === null) return value
  yield
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value) items.push(yield* withoutQuotes(item, byStart))
    return items
  }
  const members: [string, unknown][] = []
  for (const [name, inner] of Object.entries(value))
    members.push([name, yield* withoutQuotes(inner, byStart)])
  return Object.fromEntries(members)
}

function* withoutQuotesIn(text: string, byStart: Starts): Steps<string> {
  if (byStart.size === 0) return text
  const shown: string[] = []
  let copied = 0
  let steps = 0
  for (let at = 0; at + QUOTED_MIN <= text.length; ) {
    steps += 1
    if (steps % STEP === 0) yield
    const found = byStart.get(text.slice(at, at + QUOTED_MIN))?.find((one) => text.startsWith(one, at))
    if (found === undefined) {
      at += 1
      continue
    }
    shown.push(text.slice(copied, at), MASK)
    at += found.length
    if (found.length === QUOTED_MAX) {
      TOKEN_END.lastIndex = at
      at = TOKEN_END.exec(text)?.index ?? text.length
    }
    copied = at
  }
  return shown.join('') + text.slice(copied)
}

/** API members that hold bodies. Members within these texts may have the name of a credential. */
const BODY_MEMBERS = new Set(['body', 'bodyPreview'])

/** API members that hold a URL, of whose query the credentials are masked. */
const URL_MEMBERS = new Set(['url', 'forwardUrl'])

/** Members that only sound like credentials: they say whether there is a secret, or where it is. */
const HARMLESS = /(Set|SetAt|Label|Needed|Prefix|Count|Source)$/

/** Yields after some work, and returns the result. */
type Steps<Result> = Generator<unknown, Result, undefined>

/**
 * Masks the values of headers and members with the name of a credential, at any depth, also within bodies and query
 * strings. All other text is unchanged. Encoded bodies are shown decoded, or left out. Takes linear time.
 *
 * @param quotes takes what is masked
 */
export function* masked(value: unknown, name = '', quotes?: Quotes): Steps<unknown> {
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value) items.push(yield* masked(item, name, quotes))
    return items
  }
  if (typeof value === 'string') return yield* maskedText(value, name, quotes)
  if (typeof value !== 'object' || value === null) return value
  yield
  const members = Object.entries(asReadable(value))
  const header = new Map(members).get('name')
  // In `rawHeaders`, name and value of a field are two members of one object.
  const isSecretField = name === 'rawHeaders' && typeof header === 'string' && isCredentialName(header)
  const shown: [string, unknown][] = []
  for (const [member, inner] of members) {
    if (isSecretField && member === 'value') {
      quotes?.take(String(inner))
      shown.push([member, MASK])
    } else shown.push([member, yield* masked(inner, member, quotes)])
  }
  return Object.fromEntries(shown)
}

function* maskedText(text: string, name: string, quotes?: Quotes): Steps<string> {
  if (BODY_MEMBERS.has(name)) return yield* withoutSecrets(text, bodySecrets, 0, quotes)
  if (name === 'queryString') return yield* withoutSecrets(text, pairSecrets, 0, quotes)
  if (URL_MEMBERS.has(name)) {
    const query = text.indexOf('?')
    if (query < 0) return text
    return text.slice(0, query) + (yield* withoutSecrets(text.slice(query), pairSecrets, 0, quotes))
  }
  if (!isCredentialName(name) || HARMLESS.test(name)) return text
  quotes?.take(text)
  return MASK
}

/**
 * The text with its secrets masked, from its character `from` on. Consecutive parts make up the whole. A mask belongs
 * to the part in which its secret begins.
 */
function* withoutSecrets(
  text: string,
  secretsIn: (text: string) => SecretSpans,
  from = 0,
  quotes?: Quotes,
): Steps<string> {
  const shown: string[] = []
  let copied = 0
  const copyUpTo = (end: number) => {
    if (end > from) shown.push(text.slice(Math.max(copied, from), end))
  }
  for (const span of secretsIn(text)) {
    yield
    if (span === undefined) continue
    quotes?.take(text.slice(span.start, span.end), span.isJson)
    // A span that begins within another extends that one.
    if (span.start >= copied) {
      copyUpTo(span.start)
      if (span.start >= from) shown.push(span.isJson ? `"${MASK}"` : MASK)
    }
    copied = Math.max(copied, span.end)
  }
  if (copied < text.length) copyUpTo(text.length)
  return shown.join('')
}
