import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import type { Resolve } from './resolve.ts'

/**
 * The reason why an address may not be dialled, for display in `error` and `detail`: "a loopback address", "a private
 * address".
 */
type AddressRefusal = string

/** Addresses in a public range that serve a machine's credentials or its platform's controls. */
const METADATA = new Set(['168.63.129.16'])

const WORDS: Record<string, AddressRefusal> = {
  unspecified: 'an unspecified address',
  broadcast: 'a broadcast address',
  multicast: 'a multicast address',
  linkLocal: 'a link-local or metadata address',
  loopback: 'a loopback address',
  carrierGradeNat: 'a carrier-grade NAT address',
  private: 'a private address',
  uniqueLocal: 'a private address',
  ipv4Mapped: 'an IPv4 address inside an IPv6 one',
  rfc6145: 'an IPv4 address inside an IPv6 one',
  rfc6052: 'an IPv4 address inside an IPv6 one',
  '6to4': 'an IPv4 address inside an IPv6 one',
  teredo: 'an IPv4 address inside an IPv6 one',
}

/**
 * Checks an address from DNS: null when it is public unicast, else the reason for refusing it.
 *
 * It is an allow list: IPv4 and IPv6 unicast by ipaddr.js, and of IPv6 only 2000::/3, the only range that is allocated
 * today. So an unknown range is refused, and so is every form that carries an IPv4 address (mapped, compatible, NAT64,
 * 6to4, Teredo, ISATAP).
 */
export function refusalOf(address: string): AddressRefusal | null {
  if (!ipaddr.isValid(address)) return 'not an address'
  const parsed = ipaddr.parse(address)
  const range = parsed.range()
  if (range !== 'unicast') return WORDS[range] ?? 'a reserved address'
  if (!(parsed instanceof ipaddr.IPv6)) return METADATA.has(parsed.toString()) ? 'a metadata address' : null
  if (parsed.zoneId !== undefined) return 'an address with a scope'
  const [first = 0, , , , fifth = 0, sixth = 0] = parsed.parts
  if (first >> 13 !== 1) return 'a reserved address'
  // ISATAP (RFC 5214): an interface id of 0000:5efe or 0200:5efe, then the IPv4 address.
  if ((fifth & 0xfdff) === 0 && sixth === 0x5efe) return 'an IPv4 address inside an IPv6 one'
  return null
}

/**
 * One spelling for equal addresses: an IPv4-mapped address becomes the IPv4 address that it reaches. Text that is not
 * an address is returned unchanged.
 */
export function canonicalAddress(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address
}

/** True when `text` is an IPv4 or IPv6 address, without brackets. */
function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)
}

/** Private destinations that `CREEL_ALLOW_DESTINATIONS` permits: networks, and hosts by name. */
interface AllowList {
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

/**
 * A host and port of this service: of {base_url}, of {capture_url}, or one that this process listens on. `0.0.0.0` and
 * `::` mean every address of this machine.
 */
export interface OwnHost {
  readonly host: string
  readonly port: number
}

/**
 * True when a destination is this service. Forwards to it would come back as captures, so they are refused whatever the
 * operator allows.
 *
 * @param host from the URL, without brackets
 * @param address to be dialled; null when only the name is known
 */
function isOwn(own: readonly OwnHost[], host: string, address: string | null, port: number): boolean {
  return own.some((mine) => {
    if (mine.port !== port) return false
    if (hostOf(mine.host) === hostOf(host)) return true
    if (address === null || !isAddress(mine.host)) return false
    const dialled = canonicalAddress(address)
    return mine.host === '0.0.0.0' || mine.host === '::'
      ? isOfThisMachine(dialled)
      : canonicalAddress(mine.host) === dialled
  })
}

/** True for every address of this machine, all of 127.0.0.0/8, and 0.0.0.0. */
function isOfThisMachine(address: string): boolean {
  if (address.startsWith('127.') || address === '0.0.0.0' || address === '::') return true
  for (const cards of Object.values(networkInterfaces()))
    for (const card of cards ?? []) if (canonicalAddress(card.address) === address) return true
  return false
}

/** The SSRF guard: decides which addresses may be dialled. */
export interface SsrfGuard {
  /** Refuses every destination, whatever else is permitted; default false. */
  readonly isClosed?: boolean
  readonly allow: AllowList
  /** Called for every connection, since our port is known only after the start. */
  readonly ownHosts: () => readonly OwnHost[]
  readonly resolve: Resolve
  /** Whether refusals name `CREEL_ALLOW_DESTINATIONS`. They do for callers on the operator's own machine. */
  readonly namesSetting?: boolean
}

/** The addresses of a host that may be dialled, or the reason why there is none. */
export type Passage =
  | { readonly addresses: readonly [string, ...string[]] }
  | { readonly refused: 'dns' | 'blocked_address' | 'loop'; readonly detail: string }

/**
 * Resolves a host and filters its addresses to those that may be dialled. Called for every connection: an earlier
 * look-up proves nothing (DNS rebinding), so the caller must dial an address of this result.
 *
 * @param host a name, or an address without brackets
 */
export async function findPassage(guard: SsrfGuard, host: string, port: number): Promise<Passage> {
  if (guard.isClosed === true)
    return { refused: 'blocked_address', detail: 'this service sends nothing to other servers' }
  const own = guard.ownHosts()
  if (isOwn(own, host, null, port)) return loop(host, port)
  let found: readonly string[]
  if (isAddress(host)) found = [host]
  else {
    try {
      // Without the root's dot: all resolvers know `localhost`, but not all know `localhost.`
      found = await guard.resolve(hostOf(host))
    } catch {
      found = []
    }
    if (found.length === 0) return { refused: 'dns', detail: `${host} does not resolve` }
  }
  // One own address among several is enough to refuse, since any of them may be reached.
  if (found.some((address) => isOwn(own, host, address, port))) return loop(host, port)
  let reason = ''
  const addresses: string[] = []
  for (const address of found) {
    const refusal = isAllowed(guard.allow, host, address) ? null : refusalOf(address)
    if (refusal === null) addresses.push(address)
    else reason ||= refusal
  }
  const [first, ...others] = addresses
  const hint = guard.namesSetting === true ? '; CREEL_ALLOW_DESTINATIONS allows it' : ''
  return first === undefined
    ? { refused: 'blocked_address', detail: `${host} leads to ${reason}${hint}` }
    : { addresses: [first, ...others] }
}

function loop(host: string, port: number): Passage {
  return { refused: 'loop', detail: `${host}:${port} is this service itself` }
}
