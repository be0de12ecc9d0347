import type { InputIssue } from '../engine/issues.ts'
import type { ChannelKind } from './kinds/index.ts'

const TOKEN_MAX = 512
const SIGNING_SECRET_MIN = 16
const SIGNING_SECRET_MAX = 512

/**
 * What is wrong with the form of a `secret`; null when nothing is. The answer never quotes it. Credentials that
 * are addresses are checked by the SSRF guard as well.
 *
 * @param secret not empty: `""` clears the credential and is no secret
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
  // It goes into a path or a header: nothing that could end either.
  return /^[\w.:~+/=-]+$/.test(secret)
    ? null
    : wrong('bad_format', 'must be letters, digits and . : ~ + / = - _ only.')
}

const PART_MIN = 6
/** A plain word of a path (`services`, `webhooks`): no secret, and a provider may well use it in its answer. */
const PLAIN_WORD = /^[a-z]{1,10}$/

/**
 * Hides a credential in text that comes from outside: providers quote addresses and tokens in their answers.
 * Of an address, its path, its longer path segments and its query values are hidden too.
 */
export function maskSecret(text: string, secret: string | null): string {
  if (secret === null) return text
  let masked = text
  for (const part of secretParts(secret)) masked = masked.replaceAll(part, '***')
  return masked
}

/** Longest first, so that a part never hides just a piece of a longer one. */
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
