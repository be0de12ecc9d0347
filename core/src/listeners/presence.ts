import type { Services } from '../api/services.ts'
import { countSlots, takeSlot } from '../api/slots.ts'

/** Concurrent listeners of an endpoint. */
const LISTENERS_MAX = 50

/** Time after which the listener of a killed process no longer counts. */
const PRESENT_MILLISECONDS = 60_000
const RENEWAL_MILLISECONDS = 20_000

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
  const slot = await takeSlot(services, {
    scope: scopeOf(endpointId),
    max: LISTENERS_MAX,
    longestMs: PRESENT_MILLISECONDS,
    noun: 'listeners of this endpoint',
  })
  const warn = (error: unknown) =>
    services.log.warn({ err: error }, 'the presence of a listener was not written')
  const renewal = setInterval(() => {
    slot.extend(PRESENT_MILLISECONDS).catch(warn)
  }, RENEWAL_MILLISECONDS)
  renewal.unref()
  const leave = () => {
    clearInterval(renewal)
    slot.free().catch(warn)
  }
  if (ended.aborted) leave()
  else ended.addEventListener('abort', leave, { once: true })
}

/** How many listeners are connected to an endpoint. */
export function countListeners(services: Services, endpointId: string): Promise<number> {
  return countSlots(services, scopeOf(endpointId))
}
