import type { InputIssue, ItemCode } from '../../engine/issues.ts'
import { within } from '../time/index.ts'
import { findPassage, type SsrfGuard } from './ssrfGuard.ts'

/** The longest destination URL. */
const DESTINATION_URL_MAX = 2048

/** How long a name may take to resolve when a destination is saved. */
const SAVE_RESOLVE_MS = 2000

/** A destination URL taken apart, as it is dialled and as it goes on the wire. */
export interface Destination {
  readonly protocol: 'http:' | 'https:'
  /** Scheme, host and port: one connection pool each. */
  readonly origin: string
  /** The value of `Host`: the default port left out. */
  readonly hostHeader: string
  /** A name or an address, without brackets. */
  readonly host: string
  readonly port: number
  /** Path and query as they were written, when that can go on a request line. */
  readonly target: string
}

/**
 * Takes a URL apart; undefined when it is not an absolute http or https URL. What URL parsers mend in silence
 * (line breaks, blanks around it, a lacking or surplus slash before the host) is none.
 */
export function readDestination(url: string): Destination | undefined {
  const parsed = URL.parse(url)
  if (parsed === null || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) return undefined
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
  if (!/^https?:\/\/[^/\\]/i.test(url) || /[\x00-\x1f\x7f]|\s$/.test(url)) return undefined
  // The user's own spelling of path and query is sent: the parser would fold dot segments.
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
 * Evaluates a destination before it is saved: http or https, at most 2048 characters, no
 * userinfo, no fragment, not our own hosts, no private address. A name is evaluated by what it resolves to
 * within 2 s; one that does not resolve is accepted, since the address is checked again when it is dialled.
 *
 * @param path leads to the member of the input that holds the URL
 * @returns every reason to refuse it; empty when it may be saved
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
