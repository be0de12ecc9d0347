import { appRouter, authenticate, type Context, DomainError, ERRORS, type Services } from '@creel/core'
import { fetchRequestHandler } from '@trpc/server/adapters/fetch'
import { presentedKey, traceIdOf } from './requestIdentity.ts'

/** The most procedures one batch may hold (CONTRACT R10). */
const MAX_BATCH = 20

/** `/trpc`: the same router, keys and limits for typed callers; every procedure of a batch counts as a call. */
export function trpc(services: Services): (request: Request) => Promise<Response> {
  return (request) => {
    const traceId = traceIdOf(request)
    return fetchRequestHandler({
      endpoint: '/trpc',
      req: request,
      router: appRouter,
      createContext: async ({ info, resHeaders }): Promise<Context> => {
        const callCount = info.calls.length
        if (callCount > MAX_BATCH) {
          throw new DomainError('request_invalid', `A batch holds at most ${MAX_BATCH} procedures.`)
        }
        try {
          const caller = await authenticate(services, presentedKey(request), Math.max(1, callCount))
          return { ...services, ...caller, signal: request.signal, traceId, rawBody: null }
        } catch (error) {
          const seconds = error instanceof DomainError ? error.more.retryAfterSeconds : undefined
          if (seconds !== undefined) resHeaders.set('Retry-After', String(seconds))
          throw error
        }
      },
      responseMeta: ({ errors }) => {
        const refusal = errors.map((error) => error.cause).find((cause) => cause instanceof DomainError)
        return refusal === undefined ? {} : { status: ERRORS[refusal.code].status }
      },
      onError: ({ error }) => {
        if (error.code === 'INTERNAL_SERVER_ERROR' && !(error.cause instanceof DomainError)) {
          services.log.error({ err: error, traceId }, 'unexpected error')
        }
      },
    })
  }
}
