import type { Services } from '../api/services.ts'
import { countSlots, takeRenewedSlot } from '../api/slots.ts'

/** Concurrent listeners of an endpoint. */
const LISTENERS_MAX = 50

const scopeOf = (endpointId: string): string => `listener:${endpointId}`

/**
 * Counts a listener as connected to an endpoint, over all processes, until `ended` aborts.
 *
 * @throws DomainError `rate_limited` when there are too many
 */
export async function joinListeners(
  services: Services,
  endpointId: string,
  ended: AbortSignal,
): Promise<void> {
  const leave = await takeRenewedSlot(
    services,
    { scope: scopeOf(endpointId), max: LISTENERS_MAX, noun: 'listeners of this endpoint' },
    'the presence of a listener was not written',
  )
  if (ended.aborted) leave()
  else ended.addEventListener('abort', leave, { once: true })
}

/** How many listeners are connected to an endpoint. */
export function countListeners(services: Services, endpointId: string): Promise<number> {
  return countSlots(services, scopeOf(endpointId))
}
