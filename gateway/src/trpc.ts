import {
  appRouter,
  authenticate,
  type Context,
  DomainError,
  refusalOf,
  type Services,
  TracedError,
} from '@creel/core'
import { internalErrors } from '@creel/core/platform/metrics'
import { fetchRequestHandler } from '@trpc/server/adapters/fetch'
import type { CallNotes } from './callLog.ts'
import { noteOutage } from './outageLog.ts'
import { presentedKey, traceIdOf } from './requestIdentity.ts'

/** The most procedures one batch may hold (CONTRACT R10). */
const MAX_BATCH = 20

/** `/trpc`: the same router, keys and limits for typed callers; every procedure of a batch counts as a call. */
export function trpc(services: Services): (request: Request, notes: CallNotes) => Promise<Response> {
  return (request, notes) => {
    const traceId = traceIdOf(request)
    return fetchRequestHandler({
      endpoint: '/trpc',
      req: request,
      router: appRouter,
      createContext: async ({ info, resHeaders }): Promise<Context> => {
        try {
          const caller = await authenticate(services, presentedKey(request), callsOf(info.calls.length))
          notes.caller = caller
          return { ...services, ...caller, signal: request.signal, traceId, rawBody: null, body: null }
        } catch (error) {
          const seconds = refusalOf(error)?.more.retryAfterSeconds
          if (seconds !== undefined) resHeaders.set('Retry-After', String(seconds))
          throw new TracedError(traceId, error)
        }
      },
      onError: ({ error, input }) => {
        const refusal = refusalOf(error, input)
        if (refusal === null) {
          internalErrors.inc()
          services.log.error({ err: error, traceId }, 'unexpected error')
        }
        if (refusal?.code === 'unavailable') noteOutage(services.log, refusal.more.cause)
      },
    })
  }
}

/** What a batch costs. A request that names no procedure still counts as a call. */
function callsOf(procedureCount: number): number {
  if (procedureCount > MAX_BATCH) {
    throw new DomainError('request_invalid', `A batch holds at most ${MAX_BATCH} procedures.`)
  }
  return Math.max(1, procedureCount)
}
