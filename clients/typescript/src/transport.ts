import createFetchClient, { type Client } from 'openapi-fetch'
import { CreelError, errorOfAnswer, retryAfterSeconds } from './error.ts'
import type { paths } from './schema.ts'

/** How a client reaches the service. */
export interface CreelOptions {
  /** The service's base URL, such as `https://creel.example.com`. */
  readonly url: string
  /** An API key. */
  readonly key: string
  /** The most retries of a call that was answered with 429 or 503. Default 4; 0 for none. */
  readonly retries?: number
  /** The longest wait before a retry, in seconds. A longer `Retry-After` ends the call. Default 60. */
  readonly retryWaitSecondsMax?: number
  /** Ends every call of this client. */
  readonly signal?: AbortSignal
  /** Replaces the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** Options of every call. */
export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** Every path of the API, typed by its description; answers come as `{ data, error, response }`. */
export type RawApi = Client<paths>

/** State that the calls of one client share. */
export interface Transport {
  readonly url: string
  readonly api: RawApi
  /** One request with the key, retried; for answers that are streamed. */
  readonly send: (path: string, sending?: Sending) => Promise<Response>
}

/** Opens no connection: each call makes its own. */
export function createTransport(options: CreelOptions): Transport {
  const url = options.url.replace(/\/+$/, '')
  const send = retrying(options)
  const authorization = { Authorization: `Bearer ${options.key}` }
  const api = createFetchClient<paths>({
    baseUrl: url,
    headers: authorization,
    fetch: async (given) => {
      const headers: Record<string, string> = {}
      given.headers.forEach((value, name) => {
        headers[name] = value
      })
      // A request's body can be read once only, and a retry sends it again.
      const body = given.body === null ? null : await given.arrayBuffer()
      return send(given.url, { method: given.method, headers, body, signal: given.signal })
    },
  })
  return {
    url,
    api,
    async send(path, { headers = {}, ...init } = {}) {
      const response = await send(url + path, { ...init, headers: { ...authorization, ...headers } })
      if (response.ok) return response
      throw errorOfAnswer(response, parsed(await response.text()))
    },
  }
}

const DEFAULT_RETRIES = 4
const DEFAULT_WAIT_SECONDS_MAX = 60

/** A request. A stream as its body is not buffered, so it can be sent once only. */
export interface Sending {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?:
    | string
    | ArrayBuffer
    | Uint8Array<ArrayBuffer>
    | ReadableStream<Uint8Array<ArrayBuffer>>
    | null
  readonly signal?: AbortSignal
}

/** Retries calls on 429 and 503, after which nothing was done. So calls of any method are retried. */
function retrying(options: CreelOptions): (url: string, sending: Sending) => Promise<Response> {
  const { retries = DEFAULT_RETRIES, retryWaitSecondsMax = DEFAULT_WAIT_SECONDS_MAX } = options
  const send = options.fetch ?? ((url, init) => fetch(url, init))
  return async (url, sending) => {
    const signals = [sending.signal, options.signal].filter((one) => one !== undefined)
    const signal = AbortSignal.any(signals)
    const isStream = sending.body instanceof ReadableStream
    // Fetch requires the statement that the answer comes after the whole body.
    const init = { ...sending, signal, ...(isStream ? { duplex: 'half' as const } : {}) }
    for (let attempt = 0; ; attempt += 1) {
      signal.throwIfAborted()
      const response = await send(url, init).catch((error: unknown) => {
        signal.throwIfAborted()
        const detail = `${options.url} cannot be reached: ${error instanceof Error ? error.message : String(error)}`
        throw new CreelError({ code: 'connection_failed', status: 0, detail }, { cause: error })
      })
      if (attempt >= retries || isStream) return response
      if (response.status !== 429 && response.status !== 503) return response
      const seconds = retryAfterSeconds(response) ?? 2 ** attempt
      if (seconds > retryWaitSecondsMax) return response
      await response.body?.cancel()
      await wait(seconds * 1000, signal)
    }
  }
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

interface Answer<Data> {
  readonly data?: Data
  readonly error?: unknown
  readonly response: Response
}

/**
 * The data of an answer.
 *
 * @throws CreelError for every answer that is not 2xx
 */
export async function dataOf<Data>(call: Promise<Answer<Data>>): Promise<NonNullable<Data>> {
  const data = await dataOrNull(call)
  if (data === null)
    throw new CreelError({ code: 'unexpected_answer', status: 204, detail: 'The answer is empty.' })
  return data
}

/** The data of an answer; null for a 204. */
export async function dataOrNull<Data>(call: Promise<Answer<Data>>): Promise<NonNullable<Data> | null> {
  const { data, error, response } = await call.catch((thrown: unknown) => {
    // openapi-fetch parses JSON itself, and fails on the answer of a proxy.
    if (thrown instanceof SyntaxError) {
      throw new CreelError(
        { code: 'unexpected_answer', status: 0, detail: 'The answer is not JSON.' },
        { cause: thrown },
      )
    }
    throw thrown
  })
  if (!response.ok) throw errorOfAnswer(response, error)
  return response.status === 204 ? null : (data ?? null)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The signal of a call as a member, which is absent if there is none. */
export function signalOf({ signal }: CallOptions): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal }
}

/** Parameters as they follow a path; absent ones are left out. */
export function queryText(members: object): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined && value !== null) query.set(name, String(value))
  }
  return query.size === 0 ? '' : `?${query}`
}
