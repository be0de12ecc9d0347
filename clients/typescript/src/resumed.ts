import { CreelError } from './error.ts'
import { blocksOf, type ServerEvent, SILENCE_MS } from './sse.ts'
import { backoffMs, type Transport, wait } from './transport.ts'

/** State of the connection of a stream. */
export type Link =
  | { readonly type: 'connected' }
  /** A heartbeat, or an event that only a newer service knows. */
  | { readonly type: 'alive' }
  /** Opened again in `waitMs`. `error` is null where the service has ended the stream. */
  | { readonly type: 'lost'; readonly error: unknown; readonly waitMs: number }

/** A stream that can be opened again where it ended. */
export interface Resumable<Event> {
  readonly signal: AbortSignal | undefined
  /** Position at which the stream goes on. */
  readonly open: () => { readonly path: string; readonly headers?: Readonly<Record<string, string>> }
  /**
   * Decodes an event of the service.
   *
   * @throws CreelError `unexpected_answer` when it cannot be read
   */
  readonly read: (sent: ServerEvent) => Iterable<Event | Link> | AsyncIterable<Event | Link>
  /** A connection that is silent for so long is lost, also one that is not answered yet. */
  readonly silenceMs?: number
}

const RECONNECT_MS = { first: 250, max: 5_000 } as const
/** The longest `Retry-After` that is waited for. */
const RETRY_AFTER_MS_MAX = 60_000

/**
 * The events of a stream and the states of its connection, for as long as the reader reads: a stream that breaks or ends is opened
 * again where it ended.
 *
 * @throws CreelError when the service refuses the stream (what it follows was deleted, the key revoked), or sends an event that
 * cannot be read; and when another server refuses it at the first try
 */
export async function* resumed<Event>(
  transport: Transport,
  { signal: ofCall, open, read, silenceMs = SILENCE_MS }: Resumable<Event>,
): AsyncGenerator<Event | Link, void, undefined> {
  const signal = AbortSignal.any([ofCall, transport.signal].filter((one) => one !== undefined))
  let failures = 0
  let isKnown = false
  for (;;) {
    signal.throwIfAborted()
    const { path, headers } = open()
    let lost: unknown = null
    let askedMs = 0
    try {
      const accepting = { ...headers, Accept: 'text/event-stream' }
      const response = await transport.send(path, { headers: accepting, signal, silenceMs })
      const body = await eventStreamOf(response)
      isKnown = true
      try {
        yield { type: 'connected' }
        for await (const sent of blocksOf(body, silenceMs)) {
          failures = 0
          if (sent === null) yield { type: 'alive' }
          else yield* read(sent)
        }
      } finally {
        // The reader has left before the first event.
        if (!body.locked) await body.cancel().catch(() => {})
      }
    } catch (error) {
      signal.throwIfAborted()
      lost = transport.refused(error)
      askedMs = error instanceof CreelError ? (error.retryAfterSeconds ?? 0) * 1000 : 0
      if (isFinal(error, isKnown)) throw lost
    }
    const waitMs = Math.max(backoffMs(RECONNECT_MS, failures), Math.min(askedMs, RETRY_AFTER_MS_MAX))
    failures += 1
    yield { type: 'lost', error: lost, waitMs }
    await wait(waitMs, signal)
  }
}

/**
 * The body of a stream of events.
 *
 * @throws Error for the page of a proxy, such as one of a hotel: the service may be reached again later
 */
async function eventStreamOf({ body, headers }: Response): Promise<ReadableStream<Uint8Array>> {
  const type = headers.get('content-type')?.split(';', 1)[0]?.trim() ?? 'something else'
  if (body !== null && type.toLowerCase() === 'text/event-stream') return body
  await body?.cancel()
  throw new Error(`it answered ${type} in place of events; a proxy may have answered`)
}

/**
 * True for refusals and unreadable answers. Connections that fail and services that are down are tried again.
 *
 * @param isKnown the service has answered before: a refusal that is not its own is that of a proxy, which passes
 */
function isFinal(error: unknown, isKnown: boolean): boolean {
  if (!(error instanceof CreelError)) return false
  const { code, status } = error
  if (isKnown && code === 'unexpected_answer' && status >= 300) return false
  return status > 0 && status < 500 && status !== 429 && status !== 408
}
