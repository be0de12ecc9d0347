/** A URL in pieces, none of them decoded, folded or re-encoded: providers sign it byte for byte. */
interface UrlPieces {
  readonly scheme: string
  /** Host and port, perhaps with user info before them. */
  readonly authority: string
  readonly path: string
  /** With its `?`; `''` when there is none. */
  readonly query: string
}

const URL_PIECES = /^(https?):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?/i

/** Splits a URL; undefined when it is not an http(s) URL. */
export function urlPieces(url: string): UrlPieces | undefined {
  const found = URL_PIECES.exec(url)
  if (found === null) return undefined
  const [, scheme = '', authority = '', path = '', query = ''] = found
  return { scheme: scheme.toLowerCase(), authority, path, query }
}

/** The URL up to its first `?`; unchanged when it has none. */
export function withoutQuery(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? url : url.slice(0, at)
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { https: '443', http: '80' }
const PORT = /:\d+$/

export function withoutPort(url: string): string {
  const pieces = urlPieces(url)
  if (pieces === undefined) return url
  return `${pieces.scheme}://${pieces.authority.replace(PORT, '')}${pieces.path}${pieces.query}`
}

/** The URL with its scheme's port written out, where it has none. */
export function withPort(url: string): string {
  const pieces = urlPieces(url)
  if (pieces === undefined || PORT.test(pieces.authority)) return url
  const port = DEFAULT_PORTS[pieces.scheme] ?? ''
  return `${pieces.scheme}://${pieces.authority}:${port}${pieces.path}${pieces.query}`
}

const HUBSPOT_ESCAPES = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi

/** The URL as HubSpot signs it (v3): these escapes are decoded, all others stay. */
export function hubspotUrl(url: string): string {
  return url.replace(HUBSPOT_ESCAPES, (escaped) => decodeURIComponent(escaped))
}
