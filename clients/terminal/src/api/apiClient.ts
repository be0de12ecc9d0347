import { setTimeout as sleep } from 'node:timers/promises'
import type { z } from 'zod'
import { ClientError } from '../clientError.ts'
import type { Connection } from '../connection/connection.ts'
import { Problem } from './shapes.ts'

/** Timeout of one call. Awaits and streams pass a signal of their own. */
const CALL_MILLISECONDS = 30_000

/** Limit of the total wait for a spent budget in one call. */
const BUDGET_MILLISECONDS = 120_000

/** A shorter wait is not told. */
const TOLD_WAIT_SECONDS = 2

/** Members of a query string; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** Query, body and timeout of a request to the API. */
export interface CallOptions {
  readonly query?: Query
  /** Sent as JSON. */
  readonly body?: unknown
  /**
   * Lines of NDJSON, sent as they are read. They can be sent only once, so such a call is not retried when the budget
   * is spent.
   */
  readonly lines?: ReadableStream<Uint8Array>
  /** Replaces the timeout of 30 s. */
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

/** Hint for the user after a refusal, by its code. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  forwarding_disabled: 'To send it from this machine, give a port or a URL: `creel replay <id> --to 3000`.',
  limit_reached: 'Delete one that you do not need, or raise the plan.',
  not_found: 'Run `creel requests list`, `creel deliveries` or `creel endpoints list` to see what exists.',
  feature_not_in_plan:
    '`creel whoami` shows the plan; an operator changes it with `creel workspace set-plan`.',
  api_access_disabled: 'An operator changes the plan with `creel workspace set-plan`.',
  forbidden:
    '`creel whoami` shows the scope of the key. Use another key with --key, CREEL_KEY or `creel login`.',
  action_inactive: 'Switch the action on first: `creel actions update <name> --set isActive=true`.',
  unavailable: 'Try again in a moment. The log of the service and its /readyz show the cause.',
  rate_limited: '`creel whoami --json` shows the limits of the plan.',
}

/** Hint for the user after the refusal of a member, by its pointer. */
const MEMBER_STEPS: Readonly<Record<string, string>> = {
  '#/provider': '`creel providers` lists all providers; `creel providers <text>` searches them.',
}

/** The service answered with a problem. */
export class ApiProblem extends ClientError {
  /**
   * @param status of the answer
   * @param code of the problem; `unknown` if the answer is not a problem of the API
   */
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    nextStep: readonly string[],
  ) {
    super(message, nextStep)
  }
}

/** The service could not be reached, or broke off. Trying again may help. */
export class Unreachable extends ClientError {}

/** Calls the API of one service with one key. */
export class ApiClient {
  private key: string

  /** Gets a sentence when a call waits for the budget of its key. */
  onWait: (text: string) => void = () => undefined

  constructor(readonly connection: Connection) {
    this.key = connection.key
  }

  /**
   * Makes one call. If the budget is spent, waits for `Retry-After` and retries, up to two minutes in all.
   *
   * @param path starts with `/api/v1`
   * @returns the answer's JSON, undefined for one without body
   * @throws ApiProblem when the service refuses, Unreachable when it does not answer
   */
  async call(method: string, path: string, options: CallOptions = {}): Promise<unknown> {
    const text = await (await this.open(method, path, options)).text().catch((error: unknown) => {
      throw this.unreachable(error)
    })
    if (text === '') return undefined
    try {
      return JSON.parse(text)
    } catch {
      throw new ClientError(`${this.connection.url} answered without JSON.`, [
        `Is it a Creel service? The address is from ${this.connection.urlSource}.`,
      ])
    }
  }

  /** A GET. The answer is validated against the schema. */
  async get<Shape extends z.ZodType>(
    path: string,
    shape: Shape,
    query: Query = {},
  ): Promise<z.output<Shape>> {
    return this.decoded(shape, await this.call('GET', path, { query }))
  }

  /** A call. The answer is validated against the schema. */
  async expect<Shape extends z.ZodType>(
    shape: Shape,
    ...call: Parameters<ApiClient['call']>
  ): Promise<z.output<Shape>> {
    return this.decoded(shape, await this.call(...call))
  }

  /** The response of a successful call, with its body unread; for streams. */
  async open(method: string, path: string, options: CallOptions = {}): Promise<Response> {
    let waited = 0
    let renewed = false
    for (;;) {
      const response = await this.send(method, path, options)
      if (response.ok) return response
      const text = await response.text().catch(() => '')
      if (options.lines !== undefined) throw this.problem(response.status, text)
      if (response.status === 401 && this.connection.renewKey !== undefined && !renewed) {
        renewed = true
        this.key = await this.connection.renewKey()
        continue
      }
      const seconds = Number(response.headers.get('retry-after') ?? 'NaN')
      if (response.status === 429 && seconds >= 0 && waited + seconds * 1000 <= BUDGET_MILLISECONDS) {
        waited += seconds * 1000
        if (seconds >= TOLD_WAIT_SECONDS) {
          this.onWait(`The key has used its calls of this minute. Continuing in ${seconds} s.`)
        }
        await sleep(seconds * 1000, undefined, options.signal === undefined ? {} : { signal: options.signal })
        continue
      }
      throw this.problem(response.status, text)
    }
  }

  private async send(method: string, path: string, options: CallOptions): Promise<Response> {
    const { query = {}, body, lines, headers = {}, signal = AbortSignal.timeout(CALL_MILLISECONDS) } = options
    const search = new URLSearchParams()
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) search.set(name, String(value))
    const suffix = search.size === 0 ? '' : `?${search}`
    try {
      return await fetch(this.connection.url + path + suffix, {
        method,
        headers: {
          Authorization: `Bearer ${this.key}`,
          Accept: 'application/json',
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...(lines === undefined ? {} : { 'Content-Type': 'application/x-ndjson' }),
          ...headers,
        },
        redirect: 'manual',
        signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(lines === undefined ? {} : { body: lines }),
      })
    } catch (error) {
      throw this.unreachable(error)
    }
  }

  /**
   * The failure of an answer that broke off while it was read.
   *
   * @param place where, in words, e.g. `after 12 lines`
   */
  brokenOff(error: unknown, place: string): Unreachable {
    return new Unreachable(`${this.connection.url} broke the connection ${place}: ${reasonOf(error)}.`, [
      'The output is incomplete. Run the command again.',
    ])
  }

  private decoded<Shape extends z.ZodType>(shape: Shape, answer: unknown): z.output<Shape> {
    const decoded = shape.safeParse(answer)
    if (decoded.success) return decoded.data
    const places = decoded.error.issues.map(({ path }) => path.join('.')).join(', ')
    throw new ClientError(
      `${this.connection.url} sent an answer that this version of creel cannot read (${places}).`,
      ['Check that the address is a Creel service, and compare the versions.'],
    )
  }

  private unreachable(error: unknown): Unreachable {
    const { url, urlSource } = this.connection
    return new Unreachable(`${url} does not answer: ${reasonOf(error)}.`, [
      `The address is from ${urlSource}. Check that the service runs there; \`creel serve\` starts one here.`,
    ])
  }

  private problem(status: number, text: string): ApiProblem {
    const { url, urlSource, keySource } = this.connection
    const parsed = Problem.safeParse(jsonOf(text))
    if (!parsed.success) {
      return new ApiProblem(status, 'unknown', `${url} answered ${status}, but not as Creel's API does.`, [
        `The address is from ${urlSource}. Check it; a proxy may have answered.`,
      ])
    }
    const { code, detail, traceId, errors = [] } = parsed.data
    if (code === 'unauthorized') {
      const message = `${url} refuses the key ${masked(this.key)} (from ${keySource}).`
      return new ApiProblem(status, code, message, [
        'Save another key with `creel login`. An operator creates keys with `creel key create`.',
      ])
    }
    const parts = errors.map(
      ({ detail: part, pointer, parameter }) => `  ${pointer ?? parameter ?? ''} ${part}`,
    )
    const trace = status >= 500 ? [`Look for ${traceId} in the log of the service.`] : []
    const nextStep = Object.hasOwn(NEXT_STEPS, code) ? NEXT_STEPS[code] : undefined
    const memberSteps = errors.flatMap(({ pointer }) =>
      typeof pointer === 'string' && Object.hasOwn(MEMBER_STEPS, pointer)
        ? (MEMBER_STEPS[pointer] ?? [])
        : [],
    )
    return new ApiProblem(status, code, detail, [
      ...(nextStep === undefined ? [] : [nextStep]),
      ...memberSteps,
      ...(parts.length > 1 ? parts : []),
      ...trace,
    ])
  }
}

/** As much of a key as may be shown. */
export function masked(key: string): string {
  return key.length <= 20 ? `${key.slice(0, 4)}…` : `${key.slice(0, 16)}…`
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Why a call brought no answer, in words. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? String(error.code) : ''
  if (code === 'ConnectionRefused' || code === 'ECONNREFUSED') return 'nothing listens on that port'
  if (code === 'FailedToOpenSocket' || code === 'ENOTFOUND') return 'the host is unknown or unreachable'
  if (error.name === 'TimeoutError') return 'it took too long'
  if (code === 'ConnectionClosed' || code === 'ECONNRESET') return 'it closed the connection'
  return error.message.replace(/\.$/, '')
}
