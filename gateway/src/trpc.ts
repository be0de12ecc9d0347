import {
  appRouter,
  authenticate,
  authenticateSession,
  type Caller,
  CODES_OF_TRPC,
  type Context,
  contextOf,
  DomainError,
  ERRORS,
  ROUTES,
  refusalOf,
  type Services,
  STREAMS,
  toProblem,
  traceIds,
} from '@creel/core'
import { SentJson } from '@creel/core/engine/json'
import { fetchRequestHandler } from '@trpc/server/adapters/fetch'
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc'
import { type CallNotes, noteError } from './callLog.ts'
import { isJson, isOwnPage, presentedSession } from './console/index.ts'
import { answerOfText } from './http/longAnswer.ts'
import { boundedRequest, refuseSlow } from './input.ts'
import { addressOf, presentedKey, traceIdOf } from './requestIdentity.ts'

const MAX_BATCH = 20

/** Events that tRPC buffers ahead of a reader: one in each of the streams that they pass through. */
const EVENTS_AHEAD = 3

const READS: ReadonlySet<string> = new Set(
  [...ROUTES.filter(({ method }) => method === 'GET'), ...STREAMS].map(({ name }) => name),
)

/** Methods that tRPC answers by procedure: any other is refused before it is known what is called. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH'])

/**
 * `/trpc`: the same router, keys and limits for typed callers. Each procedure of a batch counts as a call. With a
 * console it also accepts the cookie of a signed-in browser.
 */
export function trpc(
  services: Services,
  { hasConsole }: { readonly hasConsole: boolean },
): (request: Request, notes: CallNotes) => Promise<Response> {
  return async (request, notes) => {
    const traceId = traceIdOf(request)
    let bounded: Request
    let calls: Context['calls']
    try {
      const names = proceduresOf(request)
      const allow = allowedInstead(request, names)
      if (allow !== null) {
        const wrong = new DomainError('method_not_allowed', 'Mutations are sent with POST, queries with GET.')
        return refusal(wrong, traceId, { Allow: allow })
      }
      checkCount(names)
      ;({ bounded, calls } = await withInputRead(request))
    } catch (error) {
      return refusal(error, traceId)
    }
    const longBodies = { bytes: 0 }
    const answer = await fetchRequestHandler({
      endpoint: '/trpc',
      req: bounded,
      router: appRouter,
      maxBatchSize: MAX_BATCH,
      createContext: async ({ info }): Promise<Context> => {
        // A request that names no procedure still counts as a call.
        const caller = await callerOf(services, request, Math.max(1, info.calls.length), hasConsole)
        notes.caller = caller
        return contextOf(services, caller, {
          signal: request.signal,
          traceId,
          calls,
          eventsAhead: EVENTS_AHEAD,
          longBodies,
        })
      },
      responseMeta: ({ errors }) => {
        const seconds = Math.max(...errors.map((error) => refusalOf(error)?.more.retryAfterSeconds ?? 0))
        return seconds > 0 ? { headers: new Headers({ 'Retry-After': String(seconds) }) } : {}
      },
      onError: ({ error, input }) => {
        // Called before the error is written.
        traceIds.set(error, traceId)
        noteError(services, error, traceId, input)
      },
    })
    // tRPC names no type for a call that it cannot read.
    if (!answer.headers.has('Content-Type')) answer.headers.set('Content-Type', 'application/json')
    // tRPC makes the text of its answer in one turn of the event loop, and its bytes have turns of their own.
    const isLong = longBodies.bytes > 0 && !answer.headers.has('Transfer-Encoding')
    return isLong ? await answerOfText([await answer.text()], 'utf8', answer) : answer
  }
}

/** Methods for a call whose own is wrong; null if tRPC finds that out. Without JSON it does not look at what is called. */
function allowedInstead(request: Request, names: readonly string[]): string | null {
  if (!METHODS.has(request.method)) return 'GET, POST'
  if (request.method === 'GET' || request.method === 'HEAD' || isJson(request)) return null
  return names.every((name) => READS.has(name)) ? 'GET' : null
}

/**
 * The procedures that the path of a batch names. tRPC decodes the path before it splits it, so a comma may be encoded.
 *
 * @throws DomainError `request_invalid`
 */
function proceduresOf(request: Request): string[] {
  const path = new URL(request.url).pathname.slice('/trpc/'.length)
  try {
    return decodeURIComponent(path).split(',')
  } catch {
    throw new DomainError('request_invalid', 'The path has a percent sign that encodes no character.')
  }
}

/** A key takes precedence. A cookie counts only when our own page sends it, and a change must come as JSON. */
async function callerOf(
  services: Services,
  request: Request,
  cost: number,
  hasConsole: boolean,
): Promise<Caller> {
  const key = presentedKey(request)
  const token = key === null && hasConsole ? presentedSession(services.urls, request) : null
  const isTrusted = isOwnPage(services.urls, request) && (request.method === 'GET' || isJson(request))
  const address = addressOf(request)
  if (token === null || !isTrusted) return await authenticate(services, { key, address }, cost)
  return await authenticateSession(services, { token, address }, cost)
}

/**
 * Limits the procedures of a batch before tRPC sees them: it would answer with an error for each.
 *
 * @throws DomainError `request_invalid`
 */
function checkCount(names: readonly string[]): void {
  if (names.length <= MAX_BATCH) return
  throw new DomainError('request_invalid', `A batch holds at most ${MAX_BATCH} procedures.`)
}

/**
 * Reads the request's input, which must be JSON, within the limits of REST bodies.
 *
 * @throws DomainError `request_invalid`
 */
async function withInputRead(
  request: Request,
): Promise<{ readonly bounded: Request; readonly calls: Context['calls'] }> {
  const { searchParams } = new URL(request.url)
  const input = searchParams.get('input')
  if (input !== null) refuseSlow(input)
  if (request.body === null) return { bounded: request, calls: null }
  if (!isJson(request)) throw new DomainError('request_invalid', 'The input is sent as application/json.')
  const { bounded, text } = await boundedRequest(request)
  return { bounded, calls: { sent: new SentJson(text), isBatch: searchParams.get('batch') === '1' } }
}

/** One error for all procedures of the call, in tRPC's format. */
function refusal(error: unknown, traceId: string, headers: Readonly<Record<string, string>> = {}): Response {
  const problem = toProblem(error, { traceId })
  const { status } = ERRORS[problem.code]
  const code = CODES_OF_TRPC[status]
  const data = { code, httpStatus: status, problem }
  const body = { error: { message: problem.detail, code: TRPC_ERROR_CODES_BY_KEY[code], data } }
  return Response.json(body, { status, headers })
}
