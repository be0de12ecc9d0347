import { isCredentialName, MASK } from '@creel/core/exports'

/** Turns what the API tells into what a model may see. */
export type Masking = (value: unknown) => unknown

/** Names of API members that hold bodies: texts in which members may be called like credentials. */
const BODY_MEMBERS = new Set(['body', 'bodyPreview'])

/** Names that are only called so: they tell whether there is a secret, or its place. */
const HARMLESS = /(Set|SetAt|Label|Needed|Prefix|Count|Source)$/

/**
 * Masks the values of headers and members that are called like credentials, at any depth, and within bodies and query strings,
 * which otherwise stay as they came.
 */
export function masked(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => masked(item, name))
  if (typeof value === 'string') return maskedText(value, name)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
  const header = new Map(members).get('name')
  // `rawHeaders`: the name of a field stands beside its value.
  const isSecretField = name === 'rawHeaders' && typeof header === 'string' && isCredentialName(header)
  return Object.fromEntries(
    members.map(([member, inner]) => [
      member,
      isSecretField && member === 'value' ? MASK : masked(inner, Array.isArray(value) ? name : member),
    ]),
  )
}

function maskedText(text: string, name: string): string {
  if (BODY_MEMBERS.has(name)) return maskedBody(text)
  if (name === 'queryString') return maskedPairs(text)
  if (name === 'url') return text.replace(/\?.*$/s, maskedPairs)
  return isCredentialName(name) && !HARMLESS.test(name) ? MASK : text
}

/**
 * A member's name, the colon, and a scalar or the bracket that opens its value. Names are bounded: whatever a stranger sends, each
 * quotation mark is looked at a bounded number of times.
 */
const JSON_MEMBER = /("(?:[^"\\]|\\.){1,128}")(\s*:\s*)("(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*|[{[])/g
/** What decides where a list or an object ends. */
const BRACKET_OR_TEXT = /"(?:[^"\\]|\\.)*"?|[{}[\]]/g

/**
 * By the text, not by a parser: the rest of the body stays byte for byte, and a body that was cut or is no JSON is masked as
 * well.
 */
function maskedBody(text: string): string {
  let json = ''
  let copied = 0
  JSON_MEMBER.lastIndex = 0
  for (let found = JSON_MEMBER.exec(text); found !== null; found = JSON_MEMBER.exec(text)) {
    const [whole, key = '', , value = ''] = found
    if (!isCredentialName(key.slice(1, -1))) continue
    const start = found.index + whole.length - value.length
    const end = value === '{' || value === '[' ? closingOf(text, start) : start + value.length
    json += `${text.slice(copied, start)}"${MASK}"`
    copied = end
    JSON_MEMBER.lastIndex = end
  }
  json += text.slice(copied)
  return json === text && /^[^{[<\s]*=/.test(text) ? maskedPairs(text) : json
}

/** Behind the bracket that closes the one at `start`; the text's end where none does. */
function closingOf(text: string, start: number): number {
  let depth = 0
  BRACKET_OR_TEXT.lastIndex = start
  for (let found = BRACKET_OR_TEXT.exec(text); found !== null; found = BRACKET_OR_TEXT.exec(text)) {
    const [piece] = found
    if (piece === '{' || piece === '[') depth += 1
    else if (piece === '}' || piece === ']') depth -= 1
    if (depth === 0) return BRACKET_OR_TEXT.lastIndex
  }
  return text.length
}

function maskedPairs(text: string): string {
  return text.replaceAll(/([?&]|^)([^=&?]+)=([^&]*)/g, (whole: string, before: string, key: string) =>
    isCredentialName(unescaped(key)) ? `${before}${key}=${MASK}` : whole,
  )
}

/** The name of a pair without its escapes: `user%5Bpassword%5D` is `user[password]`. */
function unescaped(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
