import { leavesBasePath, targetUrl } from '@creel/core/engine/message'
import { createOutbound } from '@creel/core/platform/outbound'
import type { LocalOutbound } from '@creel/terminal/tools'

/**
 * Opens the service's HTTP client for sends to destinations that the user chooses, on the user's own machine.
 *
 * @param trustsAnyCertificate accepts any TLS certificate
 */
export function openOutbound(trustsAnyCertificate: boolean): LocalOutbound {
  const outbound = createOutbound({
    allowDestinations: ['0.0.0.0/0', '::/0', 'localhost'],
    ownHosts: () => [],
    trustsAnyCertificate,
  })
  return {
    send: (request) => outbound.send(request),
    urlOf(url, captured) {
      const target = { url, appendPath: true, appendQuery: true }
      return leavesBasePath(target, captured.path) ? undefined : targetUrl(target, captured)
    },
    close: () => outbound.close(),
  }
}
