import { DomainError, knownKeys, type Services } from '@creel/core'
import { refusedRequests } from '@creel/core/platform/metrics'
import type { FetchHandler } from '../fetchHandler.ts'
import { isOfCaller, presentedKey, traceIdOf } from '../requestIdentity.ts'
import { problemResponse } from '../rest.ts'
import { createHeldKeys } from './heldKeys.ts'
import type { Strangers } from './strangers.ts'

const throttledCalls = refusedRequests.labels('throttled')

/**
 * Refuses strangers from addresses that asked in vain too often, before they cost the database anything: 429 with the seconds
 * until they are heard again. Whoever shows a good key is never refused; one that this process has not seen is looked up
 * first, with those of all others that wait.
 */
export function throttledFetch(fetch: FetchHandler, services: Services, strangers: Strangers): FetchHandler {
  const keys = createHeldKeys((presented) => knownKeys(services, presented))
  return async (request, client) => {
    const address = client?.address ?? null
    const key = credentialOf(request)
    const waitSeconds = strangers.waitOf(address)
    if (waitSeconds !== undefined && (key === null || !(await keys.isGood(key)))) {
      throttledCalls.inc()
      const detail = 'Too many calls of this address were without a good key, or for nothing that exists.'
      const refusal = new DomainError('rate_limited', detail, { retryAfterSeconds: waitSeconds })
      return problemResponse(services, refusal, { traceId: traceIdOf(request) })
    }
    const response = await fetch(request, client)
    if (isOfCaller(request)) {
      if (key !== null) keys.remember(key)
    } else if (response.status === 401 || response.status === 404) strangers.note(address)
    return response
  }
}

/** What a caller is known by: a key, or the cookie of a session. */
function credentialOf(request: Request): string | null {
  return presentedKey(request) ?? request.headers.get('cookie')
}
