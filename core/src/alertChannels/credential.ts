import type { InputIssue } from '../engine/issues.ts'
import type { ChannelKind } from './kinds/index.ts'

const TOKEN_MAX = 512
const SIGNING_SECRET_MIN = 16
const SIGNING_SECRET_MAX = 512

/**
 * The issue with the format of a `secret`; null if it is valid. The message never quotes the secret. Credentials that
 * are addresses are checked by the SSRF guard as well.
 *
 * @param secret not empty: `""` clears the credential
 */
export function credentialIssue(kind: ChannelKind, secret: string): InputIssue | null {
  const wrong = (code: InputIssue['code'], words: string): InputIssue => ({
    path: ['secret'],
    code,
    detail: `secret (${kind.credentialLabel}) ${words}`,
  })
  if (kind.credential === 'signingSecret') {
    if (secret.length < SIGNING_SECRET_MIN) {
      return wrong('too_short', `must have at least ${SIGNING_SECRET_MIN} characters.`)
    }
    return secret.length > SIGNING_SECRET_MAX
      ? wrong('too_long', `must have at most ${SIGNING_SECRET_MAX} characters.`)
      : null
  }
  if (kind.credential === 'url') return null
  if (secret.length > TOKEN_MAX) return wrong('too_long', `must have at most ${TOKEN_MAX} characters.`)
  // The secret becomes part of a path or a header, so characters that could end either are refused.
  return /^[\w.:~+/=-]+$/.test(secret)
    ? null
    : wrong('bad_format', 'must be letters, digits and . : ~ + / = - _ only.')
}

const PART_MIN = 6
/** A plain word of a path (`services`, `webhooks`): not a secret, and likely to occur in a provider's answer. */
const PLAIN_WORD = /^[a-z]{1,10}$/

/**
 * Masks a credential in text from outside, because providers quote addresses and tokens in their answers. For an
 * address, its path, its longer path segments and its query values are masked, too.
 */
export function maskSecret(text: string, secret: string | null): string {
  if (secret === null) return text
  let masked = text
  for (const part of secretParts(secret)) masked = masked.replaceAll(part, '***')
  return masked
}

/** Longest first, so that a part never masks only a piece of a longer one. */
function secretParts(secret: string): string[] {
  const parts = [secret]
  const url = URL.parse(secret)
  if (url !== null) {
    parts.push(url.href, url.pathname + url.search, url.search, url.pathname)
    parts.push(...url.pathname.split('/'), ...url.searchParams.values())
  }
  return [...new Set(parts.flatMap((part) => [part, encodeURIComponent(part)]))]
    .filter((part) => part.length >= PART_MIN && !PLAIN_WORD.test(part))
    .sort((a, b) => b.length - a.length)
}
