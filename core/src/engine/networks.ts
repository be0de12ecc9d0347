import ipaddr from 'ipaddr.js'

/**
 * A network in its one spelling, e.g. `10.0.0.0/8`; a single address becomes the network that holds it alone.
 *
 * @param text a CIDR or an address
 * @returns undefined for anything else
 */
export function networkOf(text: string): string | undefined {
  if (ipaddr.IPv4.isValidCIDRFourPartDecimal(text)) {
    return `${ipaddr.IPv4.networkAddressFromCIDR(text)}/${ipaddr.IPv4.parseCIDR(text)[1]}`
  }
  if (ipaddr.IPv6.isValidCIDR(text)) {
    const [address, bits] = ipaddr.IPv6.parseCIDR(text)
    return address.zoneId ? undefined : `${ipaddr.IPv6.networkAddressFromCIDR(text)}/${bits}`
  }
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return undefined
  const address = ipaddr.process(text)
  if (address instanceof ipaddr.IPv6 && address.zoneId) return undefined
  return `${address}/${address.kind() === 'ipv4' ? 32 : 128}`
}

/**
 * Makes a check whether an address lies in one of the networks.
 *
 * @param networks in the spelling of {@link networkOf}
 * @returns takes an address in its usual spelling; false for null and for text that is not an address
 */
export function networkMatcher(networks: readonly string[]): (address: string | null) => boolean {
  const ranges = networks.map((network) => ipaddr.parseCIDR(network))
  return (text) => {
    if (text === null || !ipaddr.isValid(text)) return false
    const address = ipaddr.process(text)
    return ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))
  }
}
