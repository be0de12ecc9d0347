import type { Urls } from '@creel/core'
import type { ServiceOptions } from './options.ts'

/** A listening address as the host of a URL for this machine: IPv6 in brackets, "every address" as loopback. */
export function hostInUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/**
 * {base_url} and {capture_url} of the spec: as configured, else from where the gateway listens.
 *
 * @param port the one that is really listened on, also when 0 was asked for
 */
export function publicUrls(
  options: Pick<ServiceOptions, 'host' | 'baseUrl' | 'captureUrl'>,
  port: number,
): Urls {
  const baseUrl = options.baseUrl ?? `http://${hostInUrl(options.host)}:${port}`
  return { baseUrl, captureUrl: options.captureUrl ?? baseUrl }
}
