import type { Urls } from '@creel/core'
import { hostInUrl } from '../hostInUrl.ts'
import type { ServiceOptions } from './options.ts'

/**
 * {base_url} and {capture_url}: as configured, else derived from the gateway's address.
 *
 * @param port the actual port, also when 0 was requested
 */
export function publicUrls(
  options: Pick<ServiceOptions, 'host' | 'baseUrl' | 'captureUrl'>,
  port: number,
): Urls {
  const baseUrl = options.baseUrl ?? `http://${hostInUrl(options.host)}:${port}`
  return { baseUrl, captureUrl: options.captureUrl ?? baseUrl }
}
