import { isCredentialName, MASK } from '@creel/core/exports'
import { inSlices } from '@creel/core/platform/turns'
import { asReadable } from './readable.ts'
import { bodySecrets, pairSecrets, type SecretSpans } from './secretSpans.ts'

/** Masks answers of the API for a model. Long texts are masked in slices, so that the event loop is not blocked. */
export interface Masking {
  /** Masks an answer of the API. */
  value(value: unknown): Promise<unknown>
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
  part: (start, from) => Promise.resolve(start.slice(from)),
}

/** Masks the values of headers, members and pairs with the name of a credential. */
export const MASKED: Masking = {
  value: (value) => inSlices(masked(value)),
  // Names and delimiters are ASCII, so bytes serve as characters, and a character that the end cuts is kept.
  part: (start, from) => inSlices(withoutSecrets(start, bodySecrets, from)),
}

/** API members that hold bodies. Members within these texts may have the name of a credential. */
const BODY_MEMBERS = new Set(['body', 'bodyPreview'])

/** Members that only sound like credentials: they say whether there is a secret, or where it is. */
const HARMLESS = /(Set|SetAt|Label|Needed|Prefix|Count|Source)$/

/** Yields after some work, and returns the result. */
type Steps<Result> = Generator<unknown, Result, undefined>

/**
 * Masks the values of headers and members with the name of a credential, at any depth, also within bodies and query
 * strings. All other text is unchanged. Encoded bodies are shown decoded, or left out. Takes linear time.
 */
export function* masked(value: unknown, name = ''): Steps<unknown> {
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value) items.push(yield* masked(item, name))
    return items
  }
  if (typeof value === 'string') return yield* maskedText(value, name)
  if (typeof value !== 'object' || value === null) return value
  yield
  const members = Object.entries(asReadable(value))
  const header = new Map(members).get('name')
  // In `rawHeaders`, name and value of a field are two members of one object.
  const isSecretField = name === 'rawHeaders' && typeof header === 'string' && isCredentialName(header)
  const shown: [string, unknown][] = []
  for (const [member, inner] of members) {
    shown.push([member, isSecretField && member === 'value' ? MASK : yield* masked(inner, member)])
  }
  return Object.fromEntries(shown)
}

function* maskedText(text: string, name: string): Steps<string> {
  if (BODY_MEMBERS.has(name)) return yield* withoutSecrets(text, bodySecrets)
  if (name === 'queryString') return yield* withoutSecrets(text, pairSecrets)
  if (name === 'url') {
    const query = text.indexOf('?')
    if (query < 0) return text
    return text.slice(0, query) + (yield* withoutSecrets(text.slice(query), pairSecrets))
  }
  return isCredentialName(name) && !HARMLESS.test(name) ? MASK : text
}

/**
 * The text with its secrets masked, from its character `from` on. Consecutive parts make up the whole. A mask belongs
 * to the part in which its secret begins.
 */
function* withoutSecrets(text: string, secretsIn: (text: string) => SecretSpans, from = 0): Steps<string> {
  const shown: string[] = []
  let copied = 0
  const copyUpTo = (end: number) => {
    if (end > from) shown.push(text.slice(Math.max(copied, from), end))
  }
  for (const span of secretsIn(text)) {
    yield
    if (span === undefined) continue
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
