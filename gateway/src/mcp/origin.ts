import { isIP } from 'node:net'

/** Names of this machine, which no public DNS server answers for. */
const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Whether a request to `/mcp` may come from where it says. It stops DNS rebinding: a page of another site whose name
 * resolves to this service. Browsers send `Origin` with every POST, and the name of that site as `Host`.
 *
 * - `Origin`: absent, the host of {base_url}, or this machine.
 * - `Host`: absent, the host of {base_url}, an address, or a name without a dot, which only a local resolver knows.
 */
export function isFromHere(request: Request, baseUrl: string): boolean {
  const own = new URL(baseUrl).hostname.toLowerCase()
  const origin = request.headers.get('origin')
  if (origin !== null) {
    const name = URL.canParse(origin) ? new URL(origin).hostname.toLowerCase() : ''
    if (name !== own && !LOOPBACK_NAMES.has(name)) return false
  }
  const host = request.headers.get('host')
  if (host === null) return true
  const name = nameOf(host)
  if (name === undefined) return false
  return name === own || !name.includes('.') || isIP(name) !== 0
}

/** The name or address of a `Host` field without its port, in lower case; undefined if it cannot be read. */
function nameOf(host: string): string | undefined {
  const url = `http://${host}`
  return URL.canParse(url) ? new URL(url).hostname.toLowerCase() : undefined
}
