import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Calls,
  type Creel,
  type CreelError,
  createCreel,
  type Refused,
  type Sending,
} from 'creel-client'
import { ClientError, usageError, type WrongPart } from '../clientError.ts'
import type { Connection } from '../connection/connection.ts'

/** Timeout of one call. Awaits and streams have their own. */
const CALL_MILLISECONDS = 30_000

/** Limit of the total wait of one call, for a spent budget or for the service. */
const BUDGET_SECONDS = 120

/** A shorter wait is not told. */
const TOLD_WAIT_SECONDS = 2

/** Members of a query string; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** Hint for the user after a refusal, by its code. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  forwarding_disabled: 'To send it from this machine, give a port or a URL: `creel replay <id> --to 3000`.',
  limit_reached: 'Delete one that you do not need, or raise the plan.',
  not_found: 'The command `list` of its kind, like `creel requests list`, shows what exists.',
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
   * @param retryAfterSeconds after which a retry is served, where the answer says so
   */
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    nextStep: readonly string[],
    parts: readonly WrongPart[] = [],
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message, nextStep, undefined, parts)
  }
}

/** The service could not be reached, or broke off. Trying again may help. */
export class Unreachable extends ClientError {
  /** @param cause the error of the connection */
  constructor(
    message: string,
    nextStep: readonly string[],
    override readonly cause?: unknown,
  ) {
    super(message, nextStep)
  }
}

/** The client of one service with one key, which says what to do about an error. */
export class ApiClient {
  /** Its calls reject with {@link ApiProblem} when the service refuses, and with {@link Unreachable} when it does not answer. */
  readonly creel: Creel
  readonly calls: Calls
  private key: string

  /** Gets a sentence when a call waits for the budget of its key, or for the service. */
  onWait: (text: string) => void = () => undefined

  /** @throws ClientError for a key with characters that no key has */
  constructor(readonly connection: Connection) {
    const { url, renewKey } = connection
    // An earlier release may have saved it with the line break of a file.
    const key = connection.key.trim()
    if (!/^[\x21-\x7e]*$/.test(key)) {
      throw usageError(
        `The key from ${connection.keySource} has a character that no key has.`,
        'Copy it whole: a key that is shown with … is only the beginning of one.',
      )
    }
    this.key = key
    this.creel = createCreel({
      url,
      key,
      timeoutMs: CALL_MILLISECONDS,
      fetch: (to, init) => fetch(to, { ...init, redirect: 'manual' }),
      retry: (refused) => this.waitsFor(refused),
      errorOf: (error) => this.explained(error),
      ...(renewKey === undefined
        ? {}
        : {
            renewKey: async () => {
              this.key = await renewKey()
              return this.key
            },
          }),
    })
    this.calls = this.creel.calls
  }

  /** Calls a path with members that the user has named. Returns the answer's JSON, undefined for one without body. */
  async call(
    method: string,
    path: string,
    { query = {}, body }: { readonly query?: Query; readonly body?: unknown } = {},
  ): Promise<unknown> {
    const sending: Sending = body === undefined ? { method } : jsonSending(method, body)
    const text = await (await this.creel.send(path + queryOf(query), sending)).text()
    try {
      return text === '' ? undefined : JSON.parse(text)
    } catch {
      throw this.notCreel()
    }
  }

  /** The failure of an answer that is another server's, like the page of a proxy. */
  notCreel(detail = `${this.connection.url} is not a Creel.`): ClientError {
    return new ClientError(detail, [
      `Check that the address is a Creel service, and compare the versions. The address is from ${this.connection.urlSource}.`,
    ])
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

  /** If the budget is spent, a call waits for `Retry-After`, up to two minutes in all. */
  private waitsFor({ status, seconds, waitedSeconds }: Refused): boolean {
    if (status !== 429 || waitedSeconds + seconds > BUDGET_SECONDS) return false
    this.tellWait('The key has used its calls of this minute.', seconds)
    return true
  }

  /**
   * Makes a call again while the service is unavailable for a moment, as while a workspace moves.
   *
   * @param until moment in milliseconds; the call is not made again after it
   */
  async pastOutages<Answer>(
    call: () => Promise<Answer>,
    {
      until = Date.now() + BUDGET_SECONDS * 1000,
      signal,
    }: { readonly until?: number; readonly signal?: AbortSignal } = {},
  ): Promise<Answer> {
    for (;;) {
      try {
        return await call()
      } catch (error) {
        if (!(error instanceof ApiProblem) || error.status !== 503) throw error
        const seconds = error.retryAfterSeconds ?? 1
        if (Date.now() + seconds * 1000 >= until) throw error
        this.tellWait('The service is unavailable.', seconds)
        await sleep(seconds * 1000, undefined, { signal }).catch(() => signal?.throwIfAborted())
      }
    }
  }

  private tellWait(reason: string, seconds: number): void {
    if (seconds >= TOLD_WAIT_SECONDS) this.onWait(`${reason} Continuing in ${seconds} s.`)
  }

  private explained(refused: CreelError): ClientError {
    const { code, status, detail, errors, traceId, retryAfterSeconds, cause } = refused
    const { url, urlSource, keySource, keyStep } = this.connection
    const from = `The address is from ${urlSource}.`
    if (code === 'connection_failed') {
      const step = `${from} Check that the service runs there; \`creel serve\` starts one here.`
      return new Unreachable(`${url} does not answer: ${reasonOf(cause)}.`, [step], cause)
    }
    if (code === 'unexpected_answer' && status < 300) return this.notCreel(detail)
    if (code === 'unexpected_answer') {
      const step = `${from} Check it; a proxy may have answered.`
      return new ApiProblem(status, 'unknown', detail, [step], [], retryAfterSeconds)
    }
    if (code === 'unauthorized') {
      const message = `${url} refuses the key ${masked(this.key)} (from ${keySource}).`
      return new ApiProblem(status, code, message, [
        keyStep ?? 'Save another key with `creel login`. An operator creates keys with `creel key create`.',
      ])
    }
    const steps = [
      ...stepsOf(NEXT_STEPS, code),
      ...errors.flatMap(({ pointer }) => stepsOf(MEMBER_STEPS, pointer ?? '')),
      ...(status >= 500 ? [`Look for ${traceId} in the log of the service.`] : []),
    ]
    const parts = errors.map(({ detail: words, pointer, parameter }) => ({
      path: pointer == null ? [parameter ?? ''] : pathOf(pointer),
      detail: words,
    }))
    return new ApiProblem(status, code, detail, steps, parts, retryAfterSeconds)
  }
}

/** The parts of a JSON Pointer in a fragment, like `#/set/body.a~1b`. */
const pathOf = (pointer: string): readonly string[] =>
  decodeURIComponent(pointer.slice('#/'.length))
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))

export const jsonSending = (method: string, body: unknown): Sending => ({
  method,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
})

/** Members as they follow a path; absent ones are left out. */
export function queryOf(query: Query): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value))
  return given.size === 0 ? '' : `?${given}`
}

const stepsOf = (steps: Readonly<Record<string, string>>, name: string): readonly string[] =>
  Object.hasOwn(steps, name) ? [steps[name] ?? ''] : []

/** As much of a key as may be shown. */
export function masked(key: string): string {
  return key.length <= 20 ? `${key.slice(0, 4)}…` : `${key.slice(0, 16)}…`
}

/** Why a call brought no answer, in words. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof Unreachable && error.cause !== undefined) return reasonOf(error.cause)
  const code = 'code' in error ? String(error.code) : ''
  if (code === 'ConnectionRefused' || code === 'ECONNREFUSED') return 'nothing listens on that port'
  if (code === 'FailedToOpenSocket' || code === 'ENOTFOUND') return 'the host is unknown or unreachable'
  if (error.name === 'TimeoutError') return 'it took too long'
  if (code === 'ConnectionClosed' || code === 'ECONNRESET') return 'it closed the connection'
  return error.message.replace(/\.$/, '')
}
