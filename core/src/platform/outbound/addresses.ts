import ipaddr from 'ipaddr.js'

/**
 * The reason why an address may not be dialled, for display in `error` and `detail`: "a loopback address", "a private
 * address".
 */
export type AddressRefusal = string

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
export function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)
}
