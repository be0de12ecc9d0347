import type { Urls } from '@creel/core'
import { hostInUrl } from '../hostInUrl.ts'
import type { ServiceOptions } from './options.ts'

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
