import ipaddr from 'ipaddr.js'
import { canonicalAddress, isAddress } from './addresses.ts'

/** Private destinations that `CREEL_ALLOW_DESTINATIONS` permits: networks, and hosts by name. */
export interface AllowList {
  readonly networks: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][]
  readonly hosts: ReadonlySet<string>
}

const HOST_NAME = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/

/**
 * Reads the entries of `CREEL_ALLOW_DESTINATIONS`: CIDRs (`10.0.0.0/8`), addresses and host names.
 *
 * @throws TypeError naming the first entry that is neither
 */
export function parseAllowList(entries: readonly string[]): AllowList {
  const networks: [ipaddr.IPv4 | ipaddr.IPv6, number][] = []
  const hosts = new Set<string>()
  for (const entry of entries) {
    const text = entry.trim().toLowerCase()
    if (ipaddr.isValidCIDR(text)) networks.push(ipaddr.parseCIDR(text))
    else if (isAddress(text)) networks.push([ipaddr.parse(text), text.includes(':') ? 128 : 32])
    else if (HOST_NAME.test(hostOf(text))) hosts.add(hostOf(text))
    else throw new TypeError(`"${entry}" is not a CIDR, an address or a host name.`)
  }
  return { networks, hosts }
}

/** True when the operator permits this address, or this host with any address. */
export function isAllowed(list: AllowList, host: string, address: string): boolean {
  if (list.hosts.has(hostOf(host))) return true
  if (!ipaddr.isValid(address)) return false
  // A mapped address is checked as the IPv4 address that it reaches.
  const parsed = ipaddr.parse(canonicalAddress(address))
  return list.networks.some(
    ([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits),
  )
}

/** A host name in one spelling: lower case, without the dots of the root (`localhost.` is `localhost`). */
export function hostOf(name: string): string {
  return name.toLowerCase().replace(/\.+$/, '')
}
