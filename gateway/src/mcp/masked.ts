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

const JSON_MEMBER = /("(?:[^"\\]|\\.)*")(\s*:\s*)("(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*)/g

/**
 * By the text, not by a parser: the rest of the body stays byte for byte, and a body that was cut or is no JSON is masked as
 * well.
 */
function maskedBody(text: string): string {
  const json = text.replaceAll(JSON_MEMBER, (whole: string, key: string, colon: string) =>
    isCredentialName(key.slice(1, -1)) ? `${key}${colon}"${MASK}"` : whole,
  )
  return json === text && /^[^{[<\s]*=/.test(text) ? maskedPairs(text) : json
}

function maskedPairs(text: string): string {
  return text.replaceAll(/([?&]|^)([^=&?]+)=([^&]*)/g, (whole: string, before: string, key: string) =>
    isCredentialName(key) ? `${before}${key}=${MASK}` : whole,
  )
}
