import { z } from 'zod'
import { type InputIssue, issue } from '../engine/issues.ts'
import { ISSUES_MAX, words } from './issues.ts'

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
      'Send a live key as `Authorization: Bearer <API_KEY>`. A revoked key stays revoked. An expired key works again after its expiry is moved.',
  },
  api_access_disabled: {
    status: 403,
    title: 'Forbidden',
    meaning: "The key is valid, but the workspace's plan has no API access.",
    remedy: 'Move the workspace to a plan with API access; its keys then work again.',
  },
  feature_not_in_plan: {
    status: 403,
    title: 'Forbidden',
    meaning: 'The plan does not include this operation.',
    remedy: 'Move the workspace to a plan that includes it. Retrying does not help.',
  },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    meaning:
      'The key or session is valid, but this call is not allowed: its scope is too small, it is limited to one endpoint, or it may not be used from this address.',
    remedy:
      'Use a key with a larger scope: `GET /api/v1/me` shows the scope of a key. The owner manages contacts and sessions in the console.',
  },
  not_found: {
    status: 404,
    title: 'Not Found',
    meaning:
      'The route does not exist, or the object in the path is absent, deleted or in another workspace. The answer is the same for all of these.',
    remedy: 'Check the method, the path and the ids, and that the key belongs to the right workspace.',
  },
  validation_failed: {
    status: 400,
    title: 'Bad Request',
    meaning: 'Parts of the input are invalid. Nothing was saved.',
    remedy: 'Fix every part that `errors` names, by `pointer` (body) or `parameter` (query).',
  },
  forwarding_disabled: {
    status: 400,
    title: 'Bad Request',
    meaning: 'A replay was requested for an endpoint without an active action.',
    remedy: 'Switch an action on, or name one with `actionId`.',
  },
  action_inactive: {
    status: 400,
    title: 'Bad Request',
    meaning: 'A replay was requested for an action that is switched off, or suspended by the plan.',
    remedy: 'Switch the action on first.',
  },
  request_invalid: {
    status: 400,
    title: 'Bad Request',
    meaning:
      'The body cannot be read: it is not JSON, not a JSON object, not sent as `application/json`, or over 1 MiB.',
    remedy: 'Send a JSON object of at most 1 MiB with `Content-Type: application/json`.',
  },
  rate_limited: {
    status: 429,
    title: 'Too Many Requests',
    meaning:
      'The key has used its calls of this minute, too many calls of one kind run at once, or the address has made too many calls with wrong keys.',
    remedy: 'Wait for the seconds in `Retry-After`, then retry.',
  },
  concurrent_change: {
    status: 409,
    title: 'Conflict',
    meaning:
      'An action of the endpoint was removed, or what it may store was changed, by another call at the same time. Nothing was saved.',
    remedy: 'Read the endpoint again and retry.',
  },
  limit_reached: {
    status: 409,
    title: 'Conflict',
    meaning: 'The workspace has reached a limit of its plan.',
    remedy:
      'Remove one, or move the workspace to a larger plan. Waiting does not help, except for a key that a rotation replaces.',
  },
  no_destination: {
    status: 409,
    title: 'Conflict',
    meaning: 'A transformation rule was added to an endpoint without a forward action.',
    remedy: 'Add a forward action first.',
  },
  original_gone: {
    status: 409,
    title: 'Conflict',
    meaning:
      'The endpoint forwards originals, and the original of this request is gone. Only a part of it is stored.',
    remedy: 'Send the stored part with `…/send`, or let the sender send the event again.',
  },
  shredded: {
    status: 409,
    title: 'Conflict',
    meaning:
      'The content of the request was encrypted at rest, and its key was destroyed. Method, time, label and event id are left.',
    remedy: 'Let the sender send the event again.',
  },
  callback_failed: {
    status: 400,
    title: 'Bad Request',
    meaning: 'The callback of a subscription did not pass its check. `detail` begins with the reason.',
    remedy: 'Let the callback answer the challenge with 2xx and `{"challenge": …}`, then subscribe again.',
  },
  unavailable: {
    status: 503,
    title: 'Service Unavailable',
    meaning:
      'The service cannot answer now: its database is unreachable, the search took too long, the workspace is being moved, or the relay is full.',
    remedy:
      'Wait for the seconds in `Retry-After`, then retry. Narrow a search that took too long, or read it by cursors with `partial=true`.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method Not Allowed',
    meaning:
      'On `/trpc`, a mutation was called with GET, or a query with POST. Below `/api/`, a wrong method is `not_found`.',
    remedy:
      'On `/trpc`, send mutations with POST and queries with GET. Elsewhere, use a method of the route.',
  },
  internal_error: {
    status: 500,
    title: 'Internal Server Error',
    meaning: 'The service failed. Its log has the cause under the same `traceId`.',
    remedy: 'Retry later. If it persists, report the `traceId`.',
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
/** Characters of their paths together: a name may be as long as a body. The first item is always given. */
const PATHS_LENGTH_MAX = 65_536

/**
 * The refusal for input with one or more wrong parts.
 *
 * @param issues at least one, in document order; `detail` counts them and quotes the first
 */
export function validationFailed(issues: readonly InputIssue[]): DomainError {
  const [first] = issues
  const sentence = first === undefined ? 'The input is not valid.' : withPlace(first)
  const count = issues.length < ISSUES_MAX ? issues.length : `at least ${ISSUES_MAX}`
  const detail = issues.length > 1 ? `The input has ${count} errors; first: ${sentence}` : sentence
  let length = 0
  const given = issues.slice(0, MAX_PROBLEM_ITEMS).filter(({ path }, at) => {
    length += path.join('/').length
    return at === 0 || length <= PATHS_LENGTH_MAX
  })
  return new DomainError('validation_failed', detail, { issues: given })
}

/** The refusal for one part of the input that is not allowed as things are. */
export const notAllowed = (path: InputIssue['path'], detail: string): DomainError =>
  validationFailed([issue(path, 'not_allowed', detail)])

/** The sentence of an issue, after the place of its part where it does not begin with the part's name. */
function withPlace({ path, detail }: InputIssue): string {
  const member = path.findLast((part) => typeof part === 'string')
  const place = words(path)
  return [member ?? '', place].some((name) => detail.startsWith(name)) ? detail : `${place}: ${detail}`
}

/** The same answer for objects that are absent, deleted or another workspace's, so that callers cannot tell which. */
export function notFound(noun: string): DomainError {
  return new DomainError('not_found', `No such ${noun} in this workspace.`)
}

/**
 * The object of a uuid in a path.
 *
 * @throws DomainError `not_found` for an absent, foreign or malformed id alike
 */
export async function foundById<Row>(
  text: unknown,
  noun: string,
  find: (id: string) => Promise<Row | undefined>,
): Promise<Row> {
  const id = z.guid().safeParse(text)
  const row = id.success ? await find(id.data) : undefined
  if (row === undefined) throw notFound(noun)
  return row
}

/** The refusal of a send through an action that sends nothing. */
export function actionOff(): DomainError {
  return new DomainError('action_inactive', 'The action is switched off, or suspended by the plan.')
}

/** The refusal of whatever needs content whose key was destroyed. */
export function shredded(): DomainError {
  return new DomainError('shredded', 'The key of the content of this request was destroyed.')
}
