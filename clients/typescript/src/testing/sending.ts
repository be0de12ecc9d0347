import type { CallAnswer } from '../call.ts'
import type { Creel } from '../creel.ts'
import { CONNECTION_FIELDS } from '../transport.ts'

type Taken = CallAnswer<'replays_take'>['items'][number]

/**
 * A handler of webhooks: the URL of a server, or a function in this process. A GET or HEAD comes without its body, as
 * `fetch` allows none. The signal of the request is aborted when its time is over.
 */
export type Handler = string | ((request: Request) => Response | Promise<Response>)

/** A send that got no answer, and why. */
export interface Unanswered extends Pick<Taken, 'position' | 'requestId' | 'fault'> {
  readonly error: string
}

/** A replay whose requests are sent from here. */
export interface Replay {
  readonly endpointId: string
  readonly replayId: string
}

/** A handler, and the terms on which it gets requests. */
export interface Sending {
  readonly to: Handler
  /** Requests under way at once. */
  readonly concurrency: number
  /** Limit of one answer. */
  readonly timeoutSeconds: number
}

/** Limit of one answer unless told. */
export const TIMEOUT_SECONDS = 15

const WAIT_SECONDS = 10
const CALL_MS = 30_000
const RUNNING: ReadonlySet<string> = new Set(['queued', 'running', 'paused'])

/**
 * Takes the requests of a replay as they become due, sends each to the handler, and reports the answers, to the end of
 * the replay.
 *
 * @returns the sends that the handler did not answer
 * @throws CreelError when the service refuses a call or cannot be reached, after the answers under way
 */
export async function sendAll({ calls }: Creel, of: Replay, sending: Sending): Promise<Unanswered[]> {
  const { concurrency } = sending
  const broken = new AbortController()
  const underWay = new Set<Promise<void>>()
  const unanswered: Unanswered[] = []
  const report = async (item: Taken) => {
    const startedAt = performance.now()
    const answer = await answerOf(sending, item)
    const durationMs = Math.round(performance.now() - startedAt)
    const { position, requestId, fault } = item
    if ('error' in answer) unanswered.push({ position, requestId, fault, error: answer.error })
    await calls.replays.answer({ ...of, position, durationMs, ...answer })
  }
  try {
    for (let state = 'running'; RUNNING.has(state); ) {
      const taken = await calls.replays.take(
        { ...of, max: concurrency, waitSeconds: WAIT_SECONDS },
        { timeoutMs: CALL_MS, signal: broken.signal },
      )
      state = taken.state
      for (const item of taken.items) {
        const work = report(item)
          .catch((error: unknown) => broken.abort(error))
          .finally(() => underWay.delete(work))
        underWay.add(work)
      }
      if (underWay.size >= concurrency) await Promise.race(underWay)
    }
  } finally {
    await Promise.all(underWay)
  }
  broken.signal.throwIfAborted()
  return unanswered
}

/** Bytes of a body that are reported: one more than the service keeps, so that it knows of the cut. */
const BODY_BYTES_MAX = 256 * 1024 + 1

/** The answer of the handler, as the service takes it. */
async function answerOf({ to, timeoutSeconds }: Sending, item: Taken) {
  try {
    return await within(timeoutSeconds, async (signal) => {
      const request = requestOf(typeof to === 'string' ? to : 'http://localhost', item, signal)
      const response =
        typeof to === 'string' ? await fetch(request, { redirect: 'manual' }) : await to(request)
      const body = new Uint8Array(await response.arrayBuffer())
      return {
        received: {
          statusCode: response.status,
          headers: [...response.headers].map(([name, value]) => ({ name, value: textOfField(value) })),
          body: btoa(binaryText(body.subarray(0, BODY_BYTES_MAX))),
        },
      }
    })
  } catch (error) {
    return { error: `${error instanceof Error ? error.message : error}`.slice(0, 500) || 'no answer' }
  }
}

/** The result of `body`, or an error if it takes longer. */
async function within<Result>(
  seconds: number,
  body: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const limit = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`no answer within ${seconds} s`)
      reject(error)
      limit.abort(error)
    }, seconds * 1000)
  })
  try {
    return await Promise.race([body(limit.signal), late])
  } finally {
    clearTimeout(timer)
  }
}

function requestOf(
  base: string,
  { method, path, query, headers, body }: Taken,
  signal: AbortSignal,
): Request {
  const url = base.replace(/\/$/, '') + path + (query === null ? '' : `?${query}`)
  const fields = headers.filter(({ name }) => !CONNECTION_FIELDS.has(name.toLowerCase()))
  const bytes = Uint8Array.from(atob(body), (character) => character.charCodeAt(0))
  return new Request(url, {
    method,
    signal,
    headers: fields.map(({ name, value }): [string, string] => [name, fieldOfText(value)]),
    ...(method === 'GET' || method === 'HEAD' ? {} : { body: bytes }),
  })
}

// Fields of `fetch` are bytes, one a character; those of the service are UTF-8 as text.
const fieldOfText = (text: string): string => binaryText(new TextEncoder().encode(text))
const textOfField = (field: string): string =>
  new TextDecoder().decode(Uint8Array.from(field, (character) => character.charCodeAt(0)))

/** One character for each byte. */
function binaryText(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}
