import { type Caller, refusalOf, type Services } from '@creel/core'
import { isDeadlock } from '@creel/core/platform/db'
import { apiRequestSeconds, internalErrors } from './metrics.ts'
import { markCaller, traceIdOf } from './requestIdentity.ts'

/** Facts about a call that become known while it is answered. */
export interface CallNotes {
  caller?: Caller
}

/**
 * Answers a call and writes its one log line: the caller, the route, the outcome, the duration, and the traceId that
 * the client saw. Neither query nor headers nor bodies are logged, because they may hold secrets.
 *
 * @param routeName the procedure's name, also the metric's label: never text from outside
 */
export async function logged(
  services: Services,
  routeName: string,
  request: Request,
  answer: (notes: CallNotes) => Promise<Response>,
): Promise<Response> {
  const startedAt = performance.now()
  const notes: CallNotes = {}
  const response = await answer(notes)
  if (notes.caller !== undefined) markCaller(request)
  const seconds = (performance.now() - startedAt) / 1000
  apiRequestSeconds.observe({ route: routeName, status: String(response.status) }, seconds)
  services.log.info(
    {
      traceId: traceIdOf(request),
      method: request.method,
      path: loggedPath(request),
      route: routeName,
      status: response.status,
      durationMs: Math.round(seconds * 1000),
      keyPrefix: notes.caller?.key?.prefix,
      sessionId: notes.caller?.session?.id,
      workspaceId: notes.caller?.workspace.id,
    },
    'request',
  )
  return response
}

/** Counts and logs an error that is no refusal, under its traceId, and an outage behind a refusal. Returns the refusal. */
export function noteError({ log }: Pick<Services, 'log'>, error: unknown, traceId: string, input?: unknown) {
  const refusal = refusalOf(error, input)
  // Some failures of our own have a detail for the caller.
  if (refusal === null || refusal.code === 'internal_error') {
    internalErrors.inc()
    log.error({ err: error, traceId }, 'unexpected error')
  } else if (isDeadlock(refusal.more.cause))
    log.warn({ err: refusal.more.cause, traceId }, 'a deadlock ended a call')
  else if (refusal.more.cause !== undefined) noteOutage(log, refusal.more.cause)
  return refusal
}

const PATH_CHARACTERS_MAX = 256

/** The path of a request for the log: without the query, and cut to a maximum length. */
export function loggedPath(request: Request): string {
  return new URL(request.url).pathname.slice(0, PATH_CHARACTERS_MAX)
}

/** Minimum interval between lines, so that a flood of calls during an outage does not flood the log. */
const LINE_MILLISECONDS = 1000

/** Time of the last line, by log: each service of a process has its own, and pino has no place for it. */
const lastLines = new WeakMap<Services['log'], number>()

/**
 * Logs that the database is unreachable, at most once a second. The error is logged as `err`. By it the program's log
 * recognises all lines about an outage and passes one a second, without the driver's details.
 */
export function noteOutage(log: Services['log'], cause: unknown): void {
  const now = performance.now()
  if (now - (lastLines.get(log) ?? -LINE_MILLISECONDS) < LINE_MILLISECONDS) return
  lastLines.set(log, now)
  log.warn({ err: cause }, 'the database did not answer')
}
