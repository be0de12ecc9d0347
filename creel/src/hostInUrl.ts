/** A listening address as the host of a URL for this machine: IPv6 in brackets, "all addresses" as loopback. */
export function hostInUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
