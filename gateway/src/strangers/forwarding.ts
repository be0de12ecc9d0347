import type { Services } from '@creel/core'

/** Header fields in which a proxy names its client; lower case. */
const FORWARDING_FIELDS: ReadonlySet<string> = new Set(['forwarded', 'x-forwarded-for', 'x-real-ip'])

/** @param names of the header fields of a request, in any case */
export function isForwarded(names: Iterable<string>): boolean {
  for (const name of names) if (FORWARDING_FIELDS.has(name.toLowerCase())) return true
  return false
}

/**
 * Creates a function that takes the address of a proxy. Its first call logs a warning that requests come through a
 * proxy while none is trusted.
 */
export function undeclaredProxyWarning(log: Services['log']): (peer: string | null) => void {
  let hasWarned = false
  return (peer) => {
    if (hasWarned) return
    hasWarned = true
    log.warn(
      { peer },
      'Requests arrive through a proxy, but CREEL_TRUSTED_PROXIES is not set, so all clients count as one address. Set it to the address of the proxy.',
    )
  }
}
