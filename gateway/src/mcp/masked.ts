import { isCredentialName, MASK } from '@creel/core/exports'
import { inSlices } from '@creel/core/platform/turns'
import { bodySecrets, pairSecrets, type SecretSpans } from './secretSpans.ts'

/** Turns what the API tells into what a model may see. Long texts are masked in slices of the event loop's time. */
export interface Masking {
  /** Masks an answer of the API. */
  value(value: unknown): Promise<unknown>
  /**
   * Masks the part of a text body that begins at `from`.
   *
   * @param start the body up to the end of the part, a character for each byte. What follows does not matter: a secret that the end
   *   cuts is masked
   * @returns the part, a character for each byte
   */
  part(start: string, from: number): Promise<string>
}

/** Shows everything as it is. */
export const UNMASKED: Masking = {
  value: (value) => Promise.resolve(value),
  part: (start, from) => Promise.resolve(start.slice(from)),
}

/** Masks values of headers, members and pairs that are called like credentials. */
export const MASKED: Masking = {
  value: (value) => inSlices(masked(value)),
  // Names and signs are ASCII, so bytes serve as characters, and a character that the end cuts stays as it is.
  part: (start, from) => inSlices(withoutSecrets(start, bodySecrets, from)),
}

/** Names of API members that hold bodies: texts in which members may be called like credentials. */
const BODY_MEMBERS = new Set(['body', 'bodyPreview'])

/** Names that are only called so: they tell whether there is a secret, or its place. */
const HARMLESS = /(Set|SetAt|Label|Needed|Prefix|Count|Source)$/

/** Yields when some work was done, and returns the result. */
type Steps<Result> = Generator<unknown, Result, undefined>

/**
 * Masks the values of headers and members that are called like credentials, at any depth, and within bodies and query strings,
 * which otherwise stay as they came. Takes linear time.
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
  const members = Object.entries(value)
  const header = new Map(members).get('name')
  // `rawHeaders`: the name of a field stands beside its value.
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
 * The text with its secrets masked, or what follows its first `from` characters: parts that follow each other make up the whole.
 * A mask belongs to the part in which its secret begins.
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
    // A span that begins within another makes that one longer.
    if (span.start >= copied) {
      copyUpTo(span.start)
      if (span.start >= from) shown.push(span.isJson ? `"${MASK}"` : MASK)
    }
    copied = Math.max(copied, span.end)
  }
  if (copied < text.length) copyUpTo(text.length)
  return shown.join('')
}
