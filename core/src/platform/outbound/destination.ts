import type { InputIssue, ItemCode } from '../../engine/issues.ts'
import { within } from '../time/index.ts'
import { findPassage, type SsrfGuard } from './ssrfGuard.ts'

const DESTINATION_URL_MAX = 2048

/** Timeout for resolving a name when a destination is saved. */
const SAVE_RESOLVE_MS = 2000

/** The parts of a destination URL, for dialling and for the wire. */
export interface Destination {
  readonly protocol: 'http:' | 'https:'
  /** Scheme, host and port. Each origin has one connection pool. */
  readonly origin: string
  /** The value of `Host`, without a default port. */
  readonly hostHeader: string
  /** A name or an address, without brackets. */
  readonly host: string
  readonly port: number
  /** Path and query as written, if a request line can hold them. */
  readonly target: string
}

/**
 * Splits a URL; undefined when it is not an absolute http or https URL. Errors that URL parsers fix silently (line
 * breaks, blanks around it, a missing or surplus slash before the host) are not accepted.
 */
export function readDestination(url: string): Destination | undefined {
  const parsed = URL.parse(url)
  if (parsed === null || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) return undefined
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters.
  if (!/^https?:\/\/[^/\\]/i.test(url) || /[\x00-\x1f\x7f]|\s$/.test(url)) return undefined
  // Path and query are sent as the user spelled them: the parser would fold dot segments.
  const written = /^https?:\/\/[^/?#\\@]+(\/[!-"$-[\]-~]*)$/i.exec(url)?.[1]
  return {
    protocol: parsed.protocol,
    origin: parsed.origin,
    hostHeader: parsed.host,
    host: parsed.hostname.replace(/^\[|\]$/g, ''),
    port: parsed.port === '' ? (parsed.protocol === 'https:' ? 443 : 80) : Number(parsed.port),
    target: written ?? `${parsed.pathname}${parsed.search}`,
  }
}

/**
 * Checks a destination before it is saved: http or https, at most 2048 characters, no userinfo, no fragment, not our
 * own hosts, no private address. A name is checked by its addresses, if it resolves within 2 s. One that does not
 * resolve is accepted, since the address is checked again when it is dialled.
 *
 * @param path of the member of the input that holds the URL
 * @returns all reasons to refuse it; empty when it may be saved
 */
export async function checkDestinationUrl(
  guard: SsrfGuard,
  url: string,
  path: readonly (string | number)[],
): Promise<InputIssue[]> {
  const issue = (code: ItemCode, detail: string): InputIssue => ({ path, code, detail })
  if (url.length > DESTINATION_URL_MAX)
    return [issue('too_long', `The URL is longer than ${DESTINATION_URL_MAX} characters.`)]
  const destination = readDestination(url)
  if (destination === undefined) return [issue('bad_url', 'The URL must be an absolute http or https URL.')]

  const issues: InputIssue[] = []
  const { username, password } = new URL(url)
  const authority = /^[a-z]+:[\\/]*([^/?#\\]*)/i.exec(url)?.[1] ?? ''
  if (username !== '' || password !== '' || authority.includes('@'))
    issues.push(issue('bad_url', 'The URL must not hold a user name or a password.'))
  if (url.includes('#')) issues.push(issue('bad_url', 'The URL must not have a fragment.'))
  if (destination.port === 0) issues.push(issue('bad_url', 'The URL must not name port 0.'))

  const passage = await within(findPassage(guard, destination.host, destination.port), SAVE_RESOLVE_MS)
  if (passage !== undefined && 'refused' in passage && passage.refused !== 'dns')
    issues.push(issue('not_allowed', `The destination is not allowed: ${passage.detail}.`))
  return issues
}
