import ipaddr from 'ipaddr.js'

/** Finds the address that really sent a request that came through proxies. */
export interface ClientAddress {
  (peer: string, forwardedFor: readonly string[]): string | null
  /** Whether the peer is a proxy with a trusted `X-Forwarded-For`. */
  isTrusted(peer: string): boolean
}

/**
 * Finds the last hop that is not a trusted proxy, read from the right. Entries left of it in `X-Forwarded-For` could be
 * forged.
 *
 * @param trustedProxies CIDRs or addresses (`CREEL_TRUSTED_PROXIES`)
 * @param onUndeclared called with the peer of each request that names its client while no proxy is trusted
 * @returns takes the socket's address and every `X-Forwarded-For` value in wire order; gives an address in its usual
 *   spelling (IPv4 also when the socket says `::ffff:…`), or null when there is none
 */
export function clientAddressOf(
  trustedProxies: readonly string[],
  onUndeclared: (peer: string | null) => void = () => {},
): ClientAddress {
  const ranges = trustedProxies.map(rangeOf)
  const isTrusted = (address: ipaddr.IPv4 | ipaddr.IPv6) =>
    ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))
  const spelling = rememberSpellings()
  const addressOfClient = (peer: string, forwardedFor: readonly string[]) => {
    if (ranges.length === 0 && forwardedFor.length > 0) onUndeclared(spelling(peer))
    if (ranges.length === 0 || forwardedFor.length === 0) return spelling(peer)
    const socket = addressOf(peer)
    if (socket === undefined) return null
    let client = socket
    const hops = forwardedFor.flatMap((value) => value.split(','))
    while (isTrusted(client)) {
      const next = addressOf(hops.pop()?.trim() ?? '')
      if (next === undefined) break
      client = next
    }
    return client.toString()
  }
  const isTrustedPeer = (peer: string) => {
    if (ranges.length === 0) return false
    const socket = addressOf(peer)
    return socket !== undefined && isTrusted(socket)
  }
  return Object.assign(addressOfClient, { isTrusted: isTrustedPeer })
}

function rangeOf(cidr: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (cidr.includes('/')) return ipaddr.parseCIDR(cidr)
  const address = ipaddr.process(cidr)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

const SPELLINGS_MAX = 1_000

/** Caches the usual spelling of addresses, because most captures come over connections that have sent before. */
function rememberSpellings(): (address: string) => string | null {
  const known = new Map<string, string | null>()
  return (address) => {
    const remembered = known.get(address)
    if (remembered !== undefined) return remembered
    const spelling = addressOf(address)?.toString() ?? null
    if (known.size >= SPELLINGS_MAX) known.clear()
    known.set(address, spelling)
    return spelling
  }
}

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d+)?|([^:]+):\d+)$/

function addressOf(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const [, bracketed, plain] = WITH_PORT.exec(text) ?? []
  const address = bracketed ?? plain ?? text
  return ipaddr.isValid(address) ? ipaddr.process(address) : undefined
}
