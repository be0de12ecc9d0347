import { TRPCError } from '@trpc/server'
import { z } from 'zod'
import { type InputIssue, ITEM_CODES } from '../engine/issues.ts'
import {
  isDatabaseOutage,
  isDeadlock,
  isPassing,
  isStatementTimeout,
  SEARCH_SECONDS,
} from '../platform/db/index.ts'
import { LineTooLong } from '../platform/turns/index.ts'
import { DomainError, ERRORS, type ErrorCode, MAX_PROBLEM_ITEMS, validationFailed } from './errors.ts'
import { issuesOf } from './issues.ts'

/** One item of a problem's `errors`. */
const ProblemItem = z
  .object({
    pointer: z
      .string()
      .nullable()
      .describe('JSON Pointer into the request body, as URI fragment; null for query input'),
    parameter: z.string().nullable().describe('Name of the query parameter; null for body input'),
    code: z.string().describe(`One of ${ITEM_CODES.join(', ')}; more may come`),
    detail: z.string().describe('One sentence for people'),
  })
  .meta({ id: 'ProblemItem', description: 'One wrong part of an input' })

const codes = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]

/** Every non-2xx answer under `/api/v1` (RFC 9457). */
export const Problem = z
  .object({
    type: z.literal('about:blank'),
    title: z.string().describe("The status' phrase"),
    status: z.int(),
    detail: z.string().describe('For people; may be reworded'),
    code: z.enum(codes).describe('Branch on this: stable within v1'),
    traceId: z
      .string()
      .regex(/^[0-9a-f]{32}$/)
      .describe('W3C trace id; the same in the log of the service'),
    errors: z
      .array(ProblemItem)
      .max(MAX_PROBLEM_ITEMS)
      .optional()
      .describe('With `validation_failed`: every wrong part, in document order'),
  })
  .meta({ id: 'Problem', description: 'Why a call was not done (RFC 9457)' })

/** A problem document, as it is sent. */
export type Problem = z.infer<typeof Problem>

/** Finds the origin of an input member; members of the body are addressed below `prefix`. */
export type Locate = (path: readonly (string | number)[]) => {
  pointer: string | null
  parameter: string | null
}

/** Locates members when all come from one JSON body, as in calls over tRPC. */
export const locateInBody: Locate = (path) => ({ pointer: pointerTo(path), parameter: null })

/**
 * A JSON Pointer as URI fragment (RFC 6901 §6): `#/steps/1/op`; the root is `#`. An unpaired surrogate in a member's
 * name, which JSON allows but a URI cannot contain, becomes U+FFFD.
 */
export function pointerTo(path: readonly (string | number)[]): string {
  const token = (part: string | number) =>
    encodeURIComponent(String(part).toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1'))
  return `#${path.map((part) => `/${token(part)}`).join('')}`
}

/** TraceIds of tRPC's errors, some of which are from before there was a context with it. */
export const traceIds = new WeakMap<TRPCError, string>()

/**
 * The expected refusal inside tRPC's wrapping.
 *
 * @param input the raw input, to tell a missing member from a wrong one
 * @returns null for anything unexpected: that is `internal_error`
 */
export function refusalOf(error: unknown, input?: unknown): DomainError | null {
  if (error instanceof DomainError) return error
  if (error instanceof TRPCError) {
    const inner = refusalOf(error.cause, input)
    if (inner !== null) return inner
    if (error.code === 'BAD_REQUEST' && error.cause instanceof z.ZodError) {
      return validationFailed(issuesOf(error.cause, input))
    }
    if (error.code === 'METHOD_NOT_SUPPORTED') {
      return new DomainError('method_not_allowed', 'Mutations are sent with POST, queries with GET.')
    }
    if (error.code === 'NOT_FOUND') return new DomainError('not_found', 'The procedure does not exist.')
    if (['PARSE_ERROR', 'BAD_REQUEST', 'UNSUPPORTED_MEDIA_TYPE'].includes(error.code)) {
      return new DomainError('request_invalid', 'The request could not be read.')
    }
    return unavailability(error.cause)
  }
  return unavailability(error)
}

/** Limit of `Retry-After` for work that got no turn. */
const TURN_SECONDS_MAX = 60

/**
 * The refusal for abandoned work: the client disconnected, the work got no turn in time, the database did not answer, or
 * it ended the work so that other work could go on.
 */
function unavailability(error: unknown): DomainError | null {
  if (error instanceof LineTooLong) {
    const seconds = Math.max(1, Math.ceil(error.waitMs / 1000))
    const detail = `Too many ${error.noun} of this workspace are waiting. Try again later.`
    return new DomainError('rate_limited', detail, { retryAfterSeconds: Math.min(TURN_SECONDS_MAX, seconds) })
  }
  if (error instanceof DOMException && error.name === 'AbortError') {
    return new DomainError('unavailable', 'The client closed the connection before the answer.', {
      retryAfterSeconds: 1,
    })
  }
  const more = { cause: error, retryAfterSeconds: 1 }
  if (isStatementTimeout(error)) {
    const detail = `The search took over ${SEARCH_SECONDS} s. Narrow it with since, until, label or method.`
    return new DomainError('unavailable', detail, more)
  }
  if (isDatabaseOutage(error)) {
    return new DomainError('unavailable', 'The database is unreachable. Try again in a moment.', more)
  }
  if (isDeadlock(error)) {
    return new DomainError('unavailable', 'Another change was in the way. Try again in a moment.', more)
  }
  if (isPassing(error)) {
    return new DomainError('unavailable', 'The database could not do this now. Try again in a moment.', more)
  }
  return null
}

/**
 * Runs what follows an effect outside of the service, such as a send. A failure that would invite the caller to call
 * again, which would repeat the effect, becomes one that does not.
 *
 * @param detail says what may have happened
 * @throws DomainError `internal_error` in place of `unavailable` and `rate_limited`
 */
export async function afterEffect<Result>(
  work: () => Promise<Result>,
  detail = 'It may have been sent, and could not be recorded. Another call would send it again.',
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal === null || !/^(unavailable|rate_limited)$/.test(refusal.code)) throw error
    throw new DomainError('internal_error', detail, { cause: error })
  }
}

/**
 * Turns any error into the problem that the client gets. An unexpected error becomes `internal_error`, without its
 * cause.
 */
export function toProblem(
  error: unknown,
  { traceId, input, locate = locateInBody }: { traceId: string; input?: unknown; locate?: Locate },
): Problem {
  const refusal = refusalOf(error, input)
  const code: ErrorCode = refusal?.code ?? 'internal_error'
  const problem: Problem = {
    type: 'about:blank',
    title: ERRORS[code].title,
    status: ERRORS[code].status,
    detail:
      refusal?.detail ??
      'The service could not answer this request. Its log has the cause under this traceId.',
    code,
    traceId,
  }
  if (code === 'validation_failed')
    problem.errors = (refusal?.more.issues ?? []).map((issue) => item(issue, locate))
  return problem
}

function item({ path, code, detail }: InputIssue, locate: Locate): z.infer<typeof ProblemItem> {
  return { ...locate(path), code, detail }
}
