import type { Client, Middleware } from 'openapi-fetch'
import { CreelError, errorOfAnswer, notJson, retryAfterSeconds } from './error.ts'
import type { paths } from './schema.ts'

/** How a client reaches the service. */
export interface CreelOptions {
  /** The service's base URL, such as `https://creel.example.com`. */
  readonly url: string
  readonly key: string
  /** The most retries of a call that was answered with 429 or 503. Default 4; 0 for none. */
  readonly retries?: number
  /** The longest wait before a retry, in seconds. A longer `Retry-After` ends the call. Default 60. */
  readonly retryWaitSecondsMax?: number
  /** Decides whether a call is repeated, in place of `retries` and `retryWaitSecondsMax`. */
  readonly retry?: (refused: Refused) => boolean
  /** Gets another key when the service refuses the present one; asked once a call. */
  readonly renewKey?: () => Promise<string>
  /** Limit of one attempt of a call without `signal`, in milliseconds; none unless told. */
  readonly timeoutMs?: number | undefined
  /** Ends every call of this client. */
  readonly signal?: AbortSignal | undefined
  /** Replaces the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Makes the error that calls reject with, where it is to be another than the client's own. */
  readonly errorOf?: (error: CreelError) => Error
}

/**
 * A call that was answered with 429 or 503: it may be repeated, since nothing was sent to others. A change within the
 * service may have been made, where the connection to its database broke at the very end.
 */
export interface Refused {
  readonly status: number
  /** Repeats until now. */
  readonly repeats: number
  /** Seconds until the repeat, as the service says; doubled each time where it does not. */
  readonly seconds: number
  /** Seconds that this call has waited until now. */
  readonly waitedSeconds: number
}

export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Limit of one attempt, in milliseconds, in place of that of the client. */
  readonly timeoutMs?: number | undefined
}

/** Every path of the API, typed by its description; answers come as `{ data, error, response }`. */
export type RawApi = Client<paths>

/** State that the calls of one client share. */
export interface Transport {
  readonly api: RawApi
  /** Ends every call. */
  readonly signal: AbortSignal | undefined
  /**
   * One request with the key, retried. Rejects with the client's own errors, which `refused` may replace. So do `text`,
   * `json`, `blob` and `arrayBuffer` of its answer.
   */
  readonly send: (path: string, sending?: Sending) => Promise<Response>
  /** Sends, and reads the answer by `read`. Rejects with what `refused` makes of an error. */
  readonly ask: <Read>(
    path: string,
    sending: Sending | undefined,
    read: (answer: Response) => Read | Promise<Read>,
  ) => Promise<Read>
  /** The error that a call rejects with for an error of `send`. */
  readonly refused: (error: unknown) => unknown
  /** Throws for an answer that broke off, or never came: the reason of a signal that ended it, else the client's own error. */
  readonly brokenOff: BrokenOff
}

/** @param answer of which the error is, when it was read */
type BrokenOff = (error: unknown, signal: AbortSignal | undefined, answer?: Response) => never

/** Opens no connection: each call makes its own. */
export function createTransport(options: CreelOptions): Transport {
  const url = options.url.replace(/\/+$/, '')
  const refused = (error: unknown) =>
    error instanceof CreelError && options.errorOf !== undefined ? options.errorOf(error) : error
  const brokenOff: BrokenOff = (error, signal, answer) => {
    signal?.throwIfAborted()
    options.signal?.throwIfAborted()
    throw refused(
      answer && error instanceof SyntaxError ? notJson(answer, error) : connectionFailed(options.url, error),
    )
  }
  const fetched = retrying(options, brokenOff)
  const send = async (path: string, sending: Sending = {}) => {
    const response = await fetched(url + path, sending)
    if (response.ok) return response
    throw errorOfAnswer(response, parsed(await response.text()))
  }
  return {
    api: rawApi(url, fetched, options.timeoutMs),
    signal: options.signal,
    send,
    async ask(path, sending, read) {
      try {
        return await read(await send(path, sending))
      } catch (error) {
        throw refused(error)
      }
    },
    refused,
    brokenOff,
  }
}

/** The raw API. Its library is loaded by the first call: most programs make none. */
function rawApi(
  baseUrl: string,
  send: (url: string, sending: Sending) => Promise<Response>,
  limitMs: number | undefined,
): RawApi {
  const middleware: Middleware[] = []
  const method =
    (name: string) =>
    async <Answer>(...given: readonly unknown[]): Promise<Answer> => {
      // Every request has a signal; the caller's is in the last argument.
      const hasSignal = Object(given.at(-1)).signal !== undefined
      const timeoutMs = hasSignal ? undefined : limitMs
      const { default: createFetchClient } = await import('openapi-fetch')
      let answer: Response | undefined
      const api = createFetchClient<paths>({
        baseUrl,
        async fetch(sent) {
          // A request's body can be read once only, and a retry sends it again.
          const body = /^(GET|HEAD)$/.test(sent.method) ? null : await sent.arrayBuffer()
          const headers = Object.fromEntries(sent.headers.entries())
          answer = await send(sent.url, {
            method: sent.method,
            headers,
            body,
            signal: sent.signal,
            timeoutMs,
          })
          return answer
        },
      })
      api.use(...middleware)
      try {
        return await Reflect.get(api, name)(...given)
      } catch (error) {
        throw error instanceof SyntaxError && answer !== undefined ? notJson(answer, error) : error
      }
    }
  return {
    request: method('request'),
    GET: method('GET'),
    PUT: method('PUT'),
    POST: method('POST'),
    DELETE: method('DELETE'),
    OPTIONS: method('OPTIONS'),
    HEAD: method('HEAD'),
    PATCH: method('PATCH'),
    TRACE: method('TRACE'),
    use: (...added) => void middleware.push(...added),
    eject(...removed) {
      for (const one of removed) if (middleware.includes(one)) middleware.splice(middleware.indexOf(one), 1)
    },
  }
}

const DEFAULT_RETRIES = 4
const DEFAULT_WAIT_SECONDS_MAX = 60

/** A request. A stream as its body is not buffered, so it can be sent once only. */
export interface Sending extends CallOptions {
  /** Limit until an attempt is answered, in milliseconds; the body of the answer may take longer. */
  readonly silenceMs?: number
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?:
    | string
    | ArrayBuffer
    | Uint8Array<ArrayBuffer>
    | ReadableStream<Uint8Array<ArrayBuffer>>
    | null
}

/** Retries calls on 429 and 503, after which nothing was sent to others. So calls of any method are retried. */
function retrying(
  options: CreelOptions,
  brokenOff: BrokenOff,
): (url: string, sending: Sending) => Promise<Response> {
  const { retries = DEFAULT_RETRIES, retryWaitSecondsMax = DEFAULT_WAIT_SECONDS_MAX, renewKey } = options
  const retry =
    options.retry ?? (({ repeats, seconds }) => repeats < retries && seconds <= retryWaitSecondsMax)
  const send = options.fetch ?? ((url, init) => fetch(url, init))
  let { key } = options
  return async (url, { signal: ofCall, timeoutMs, silenceMs, ...sending }) => {
    const signal = AbortSignal.any([ofCall, options.signal].filter((one) => one !== undefined))
    const limitMs = timeoutMs ?? (ofCall === undefined ? options.timeoutMs : undefined)
    const isStream = sending.body instanceof ReadableStream
    const failed = (error: unknown, answer?: Response) => brokenOff(error, signal, answer)
    let [repeats, waitedSeconds, isRenewed] = [0, 0, false]
    for (;;) {
      signal.throwIfAborted()
      const silence = new AbortController()
      const timer =
        silenceMs === undefined
          ? undefined
          : setTimeout(() => silence.abort(nothingCame(silenceMs)), silenceMs)
      const limits = limitMs === undefined ? [] : [AbortSignal.timeout(limitMs)]
      const response = await send(url, {
        ...sending,
        headers: { ...sending.headers, Authorization: `Bearer ${key}` },
        signal: AbortSignal.any([signal, silence.signal, ...limits]),
        // Fetch wants to be told that the answer comes after the whole body.
        ...(isStream ? { duplex: 'half' as const } : {}),
      })
        .catch(failed)
        .finally(() => clearTimeout(timer))
      guard(response, failed)
      if (isStream) return response
      if (response.status === 401 && renewKey !== undefined && !isRenewed) {
        isRenewed = true
        await response.body?.cancel()
        key = await renewKey()
        continue
      }
      if (response.status !== 429 && response.status !== 503) return response
      const seconds = retryAfterSeconds(response) ?? 2 ** repeats
      if (!retry({ status: response.status, repeats, seconds, waitedSeconds })) return response
      repeats += 1
      waitedSeconds += seconds
      await response.body?.cancel()
      await wait(seconds * 1000, signal)
    }
  }
}

/** Makes an answer whose body breaks off, or is no JSON where it should be, reject with the client's own errors. */
function guard(response: Response, brokenOff: (error: unknown, answer: Response) => never): void {
  for (const name of ['arrayBuffer', 'blob', 'json', 'text'] as const) {
    const read: () => Promise<unknown> = response[name]
    Object.assign(response, {
      [name]: () => read.call(response).catch((error) => brokenOff(error, response)),
    })
  }
}

/** The error of a call that got no answer, or only the beginning of one. */
function connectionFailed(url: string, error: unknown): CreelError {
  const detail = `${url} cannot be reached: ${error instanceof Error ? error.message : String(error)}`
  return new CreelError({ code: 'connection_failed', status: 0, detail }, { cause: error })
}

/** The error of a connection that is silent. */
export const nothingCame = (silenceMs: number): Error => new Error(`nothing came for ${silenceMs / 1000} s`)

/** The first and the longest wait between tries, in milliseconds. */
export interface Backoff {
  readonly first: number
  readonly max: number
}

/**
 * The wait before the next try, in milliseconds: twice as long after each failure.
 *
 * @param failures in a row, before the last one
 */
export function backoffMs({ first, max }: Backoff, failures: number): number {
  return Math.min(max, first * 2 ** failures)
}

/**
 * Sleeps.
 *
 * @throws the signal's reason, as soon as it is aborted
 */
export function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    signal.addEventListener('abort', stop, { once: true })
  })
}

/** A text as JSON where it is JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Parameters as they follow a path; absent ones are left out. */
export function queryText(members: object): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined && value !== null) query.set(name, String(value))
  }
  return query.size === 0 ? '' : `?${query}`
}

/** Fields, in lower case, that belong to one connection (RFC 9110 §7.6.1), or that every HTTP client writes itself. */
export const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
