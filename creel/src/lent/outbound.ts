import { createOutbound } from '@creel/core/platform/outbound'
import type { LocalOutbound } from '@creel/terminal/tools'

/**
 * Opens the service's HTTP client for sends to destinations that the user chooses, on the user's own machine.
 *
 * @param trustsAnyCertificate accepts any TLS certificate
 */
export const openOutbound = (trustsAnyCertificate: boolean): LocalOutbound =>
  createOutbound({
    allowDestinations: ['0.0.0.0/0', '::/0', 'localhost'],
    ownHosts: () => [],
    trustsAnyCertificate,
  })
