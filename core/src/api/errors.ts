import type { InputIssue } from '../engine/issues.ts'

/**
 * Every code that a caller can get, with its status, title, meaning and remedy. Codes are never removed and never
 * change their meaning; `title` is the status phrase, because `type` is always `about:blank` (RFC 9457, section 4.2.1).
 * The API's description and docs/errors.md are generated from this table.
 */
export const ERRORS = {
  unauthorized: {
    status: 401,
    title: 'Unauthorized',
    meaning: 'No API key was sent, or it is unknown, expired or revoked.',
    remedy:
      'Send a live key as `Authorization: Bearer <API_KEY>`. A revoked key never comes back; an expired one does when its expiry is moved.',
  },
  api_access_disabled: {
    status: 403,
    title: 'Forbidden',
    meaning: "The key is good, but the workspace's plan has no API access.",
    remedy: 'Move the workspace to a plan with API access; its keys then work again.',
  },
  feature_not_in_plan: {
    status: 403,
    title: 'Forbidden',
    meaning: 'The plan lacks this operation altogether.',
    remedy: 'Move the workspace to a plan that has it. Retrying does not help.',
  },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    meaning:
      'The key or session is good, but may not do this: its scope is too small, it is for one endpoint, or it may not be used from this address.',
    remedy:
      'Ask with a key that may: `GET /api/v1/me` tells its scope. Contacts and sessions are managed by the owner, in the console.',
  },
  not_found: {
    status: 404,
    title: 'Not Found',
    meaning:
      'The route does not exist, or what the path names is absent, deleted or of another workspace: these cannot be told apart.',
    remedy: 'Check method, path and ids, and that the key is of the right workspace.',
  },
  validation_failed: {
    status: 400,
    title: 'Bad Request',
    meaning: 'The input was read, and parts of it are wrong; nothing was saved.',
    remedy: 'Fix every part that `errors` names, by `pointer` (body) or `parameter` (query).',
  },
  forwarding_disabled: {
    status: 400,
    title: 'Bad Request',
    meaning: 'A replay was asked for on an endpoint without an action that is switched on.',
    remedy: 'Switch an action on, or name one with `actionId`.',
  },
  action_inactive: {
    status: 400,
    title: 'Bad Request',
    meaning: 'A replay was asked for to an action that is not switched on, or suspended by the plan.',
    remedy: 'Switch the action on first.',
  },
  request_invalid: {
    status: 400,
    title: 'Bad Request',
    meaning:
      'The body cannot be read: not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.',
    remedy: 'Send a JSON object of at most 1 MiB with `Content-Type: application/json`.',
  },
  rate_limited: {
    status: 429,
    title: 'Too Many Requests',
    meaning: "The key's calls of this minute are spent, or too many calls of one kind run at once.",
    remedy: 'Sleep as many seconds as `Retry-After` says, then retry: that always recovers.',
  },
  concurrent_change: {
    status: 409,
    title: 'Conflict',
    meaning: 'Somebody removed an action of the endpoint in the meantime; nothing was saved.',
    remedy: 'Read the endpoint again and retry.',
  },
  limit_reached: {
    status: 409,
    title: 'Conflict',
    meaning: 'The plan has room for no more of these.',
    remedy: 'Remove one, or move the workspace to a larger plan. It is no rate limit: waiting does not help.',
  },
  no_destination: {
    status: 409,
    title: 'Conflict',
    meaning: 'A transformation rule was written to an endpoint that forwards nowhere.',
    remedy: 'Add a forward action first.',
  },
  unavailable: {
    status: 503,
    title: 'Service Unavailable',
    meaning: 'The service cannot answer now: its database is out of reach, or the search took too long.',
    remedy: 'Wait as long as `Retry-After` says, then retry; narrow a search that took too long.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method Not Allowed',
    meaning:
      'Never below `/api/`, where a wrong method is `not_found`. On `/trpc` a mutation was asked for with GET, or a query with POST.',
    remedy:
      'On `/trpc` send mutations with POST and queries with GET; elsewhere take a method that the route has.',
  },
  internal_error: {
    status: 500,
    title: 'Internal Server Error',
    meaning: 'The service failed. Its log knows more under the same `traceId`.',
    remedy: 'Retry later; report the `traceId` when it persists.',
  },
} as const satisfies Record<string, { status: number; title: string; meaning: string; remedy: string }>

/** A code of a problem: a key of {@link ERRORS}. */
export type ErrorCode = keyof typeof ERRORS

/** An expected refusal. `detail` reaches the client; details for operators only belong in `cause`. */
export class DomainError extends Error {
  override readonly name = 'DomainError'

  constructor(
    readonly code: ErrorCode,
    readonly detail: string,
    readonly more: {
      readonly cause?: unknown
      /** Seconds that the client must wait, for `rate_limited`; sent as `Retry-After`. */
      readonly retryAfterSeconds?: number
      /** Every wrong part, in document order, for `validation_failed`. */
      readonly issues?: readonly InputIssue[]
    } = {},
  ) {
    super(`${code}: ${detail}`, { cause: more.cause })
  }
}

/** Items in one problem's `errors`. */
export const MAX_PROBLEM_ITEMS = 50

/**
 * The refusal for input with one or more wrong parts.
 *
 * @param issues at least one, in document order; `detail` counts them and quotes the first
 */
export function validationFailed(issues: readonly InputIssue[]): DomainError {
  const first = issues[0]
  const detail =
    first === undefined
      ? 'The input is not valid.'
      : issues.length === 1
        ? first.detail
        : `The input has ${issues.length} errors; first: ${first.detail}`
  return new DomainError('validation_failed', detail, { issues: issues.slice(0, MAX_PROBLEM_ITEMS) })
}

/** The same answer for objects that are absent, deleted or another workspace's, so that callers cannot tell which. */
export function notFound(noun: string): DomainError {
  return new DomainError('not_found', `No such ${noun} in this workspace.`)
}
