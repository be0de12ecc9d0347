import type { components } from './schema.ts'

/** One wrong part of an input: `pointer` leads to a body member, `parameter` names a query parameter. */
export type ProblemItem = components['schemas']['ProblemItem']

/** Code of an error. The client itself makes `connection_failed` and `unexpected_answer`. */
export type ErrorCode =
  | components['schemas']['Problem']['code']
  | 'connection_failed'
  | 'unexpected_answer'
  // Later versions of the service may add codes.
  | (string & Record<never, never>)

/** The error with which calls reject. An aborted call rejects with the signal's reason instead. */
export class CreelError extends Error {
  override readonly name = 'CreelError'
  /** Stable within v1: branch on it. */
  readonly code: ErrorCode
  /** The HTTP status; 0 when no answer came. */
  readonly status: number
  /** One sentence for people. */
  readonly detail: string
  /** Every wrong part of the input, in document order; empty for other codes. */
  readonly errors: readonly ProblemItem[]
  /** Id of the error in the service's log; null when the answer was not the service's. */
  readonly traceId: string | null
  /** Seconds after which a retry is served, where the service said so. */
  readonly retryAfterSeconds: number | null

  constructor(
    facts: {
      readonly code: ErrorCode
      readonly status: number
      readonly detail: string
      readonly errors?: readonly ProblemItem[]
      readonly traceId?: string | null
      readonly retryAfterSeconds?: number | null
    },
    options?: ErrorOptions,
  ) {
    super(messageOf(facts), options)
    this.code = facts.code
    this.status = facts.status
    this.detail = facts.detail
    this.errors = facts.errors ?? []
    this.traceId = facts.traceId ?? null
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null
  }
}

function messageOf(facts: ConstructorParameters<typeof CreelError>[0]): string {
  const items = (facts.errors ?? []).map(
    ({ pointer, parameter, code, detail }) => `\n  ${pointer ?? parameter ?? 'input'}: ${detail} (${code})`,
  )
  const trace = facts.traceId == null ? '' : `, trace ${facts.traceId}`
  return `${facts.detail} (${facts.code}, status ${facts.status}${trace})${items.join('')}`
}

/**
 * Makes the error of an answer that is not 2xx.
 *
 * @param body the answer's body as parsed by its media type, or its text
 */
export function errorOfAnswer(response: Response, body: unknown): CreelError {
  const seconds = retryAfterSeconds(response)
  if (isProblem(body)) {
    return new CreelError({ ...body, status: response.status, retryAfterSeconds: seconds })
  }
  // The answer is not the service's: a proxy, or another service.
  return new CreelError({
    code: 'unexpected_answer',
    status: response.status,
    detail:
      response.status < 500
        ? `${notCreel(response.url)} It answered ${response.status}.`
        : `The answer ${response.status} of ${response.url || 'the service'} is none of Creel's.`,
    retryAfterSeconds: seconds,
  })
}

/** Sentence for an answer of another server. */
export function notCreel(url: string): string {
  return `${url === '' ? 'The address' : new URL(url).origin} is not a Creel.`
}

/** The error of an answer that should be JSON and is not, such as the page of a proxy. */
export function notJson({ status, url }: Pick<Response, 'status' | 'url'>, cause?: unknown): CreelError {
  const detail = `${notCreel(url)} Its answer is not JSON.`
  return new CreelError({ code: 'unexpected_answer', status, detail }, { cause })
}

function isProblem(body: unknown): body is components['schemas']['Problem'] {
  return typeof body === 'object' && body !== null && 'code' in body && 'detail' in body && 'traceId' in body
}

/** `Retry-After` in seconds, also where it is a date; null when absent or unreadable. */
export function retryAfterSeconds(response: Response): number | null {
  const text = response.headers.get('retry-after')
  if (text === null) return null
  if (/^\d+$/.test(text)) return Number(text)
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1000))
}
