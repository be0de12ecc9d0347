/**
 * Every code a caller can see, with its status and title (SPEC "Errors"). The table is closed: v1 never
 * gains a code outside SPEC, and `title` is the status phrase because `type` is always `about:blank`
 * (RFC 9457 §4.2.1).
 */
export const ERRORS = {
  unauthorized: { status: 401, title: 'Unauthorized' },
  api_access_disabled: { status: 403, title: 'Forbidden' },
  feature_not_in_plan: { status: 403, title: 'Forbidden' },
  not_found: { status: 404, title: 'Not Found' },
  validation_failed: { status: 400, title: 'Bad Request' },
  forwarding_disabled: { status: 400, title: 'Bad Request' },
  action_inactive: { status: 400, title: 'Bad Request' },
  request_invalid: { status: 400, title: 'Bad Request' },
  rate_limited: { status: 429, title: 'Too Many Requests' },
  concurrent_change: { status: 409, title: 'Conflict' },
  limit_reached: { status: 409, title: 'Conflict' },
  no_destination: { status: 409, title: 'Conflict' },
  internal_error: { status: 500, title: 'Internal Server Error' },
} as const satisfies Record<string, { status: number; title: string }>

export type ErrorCode = keyof typeof ERRORS

/** Codes of one item in a problem's `errors` (CONTRACT §0 and R5). */
export const ITEM_CODES = [
  'required',
  'type',
  'out_of_range',
  'too_short',
  'too_long',
  'unknown_field',
  'unknown_value',
  'unknown_op',
  'unknown_function',
  'bad_path',
  'bad_template',
  'bad_url',
  'bad_format',
  'not_allowed',
  'too_many',
  'too_deep',
  'duplicate',
  'arity',
] as const

export type ItemCode = (typeof ITEM_CODES)[number]

/**
 * One wrong part of an input, found by domain code. `path` leads from the root of the *input object*
 * (`['steps', 1, 'op']`); the gateway turns it into a `pointer` or a `parameter` by where the member came from.
 */
export interface InputIssue {
  readonly path: readonly (string | number)[]
  readonly code: ItemCode
  /** One sentence that says what would be right. Never holds a secret. */
  readonly detail: string
}

/** An expected refusal. `detail` reaches the client; what only operators may see goes into `cause`. */
export class DomainError extends Error {
  override readonly name = 'DomainError'

  constructor(
    readonly code: ErrorCode,
    readonly detail: string,
    readonly more: {
      readonly cause?: unknown
      /** Seconds a client must wait, for `rate_limited`: becomes the `Retry-After` header. */
      readonly retryAfterSeconds?: number
      /** Every wrong part, in document order, for `validation_failed`. */
      readonly issues?: readonly InputIssue[]
    } = {},
  ) {
    super(`${code}: ${detail}`, { cause: more.cause })
  }
}

/** The most `errors` items one problem carries (CONTRACT §0). */
export const MAX_PROBLEM_ITEMS = 50

/**
 * The refusal for input that is wrong in one or more parts.
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

/** The one answer for what is absent, deleted or another workspace's: the three cannot be told apart. */
export function notFound(noun: string): DomainError {
  return new DomainError('not_found', `No such ${noun} in this workspace.`)
}
