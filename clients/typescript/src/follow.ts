import { CreelError } from './error.ts'
import { eventOf, type StreamEvent } from './events.ts'
import { blocksOf } from './sse.ts'
import { type CallOptions, queryText, type Transport, wait } from './transport.ts'
import type { CapturedRequestSummary, RequestFilters, WholeRequest } from './types.ts'

/** Filters and mode of a stream, and where it starts: with `afterId` after this id, without it now. */
export interface StreamOptions extends CallOptions, RequestFilters {
  /** Names a listener that replays can be sent to, 1 to 64 characters. Requests arrive whole. */
  readonly listener?: string | undefined
  /** Requests arrive with target, headers and body, however many there are; changes of deliveries do not. */
  readonly whole?: boolean
  /** `behind` brings the newest requests. Only without filters. */
  readonly newest?: boolean
}

/** Options of a stream whose requests arrive whole. */
export type WholeStreamOptions = StreamOptions & ({ readonly whole: true } | { readonly listener: string })

/** State of the connection of a stream. */
export type Link =
  | { readonly type: 'connected' }
  /** A heartbeat, or an event that only a newer service knows. */
  | { readonly type: 'alive' }
  /** Opened again in `waitMs`. `error` is null where the service has ended the stream. */
  | { readonly type: 'lost'; readonly error: unknown; readonly waitMs: number }

/** A stream of one endpoint. */
export interface Streamed {
  readonly transport: Transport
  readonly endpointId: string
  readonly options: StreamOptions
  /** The newest id that is stored now; asked once, where the stream starts at the present. */
  readonly newestId: () => Promise<number>
  /** Reads the requests after an id, oldest first. Without it `behind` is an event. */
  readonly missed?: (afterId: number) => AsyncIterable<CapturedRequestSummary | WholeRequest>
}

const RECONNECT_MS = { first: 250, max: 5_000 } as const

/**
 * The live stream's events and the states of its connection, for as long as the reader reads: a stream that breaks or ends is opened
 * again where it ended.
 *
 * @throws CreelError when the service refuses the stream (the endpoint was deleted, the key revoked), or sends an event
 * that cannot be read
 */
export async function* streamEvents({
  transport,
  endpointId,
  options: { afterId, signal = new AbortController().signal, timeoutMs: _, ...query },
  newestId,
  missed,
}: Streamed): AsyncGenerator<StreamEvent | Link, void, undefined> {
  // Without an id to resume after, requests that arrive while a broken stream is opened again would be missed.
  let lastId = afterId ?? (await newestId())
  let waitMs: number = RECONNECT_MS.first
  for (;;) {
    signal.throwIfAborted()
    const path = `/api/v1/endpoints/${encodeURIComponent(endpointId)}/requests/stream${queryText({ ...query, afterId: lastId })}`
    let lost: unknown = null
    try {
      const response = await transport.send(path, { headers: { Accept: 'text/event-stream' }, signal })
      if (response.body === null) throw new TypeError('The stream has no body.')
      yield { type: 'connected' }
      for await (const sent of blocksOf(response.body)) {
        waitMs = RECONNECT_MS.first
        const event = sent === null ? null : eventOf(sent, lastId)
        if (event === null) yield { type: 'alive' }
        else if (event.type === 'behind' && missed !== undefined) {
          for await (const request of missed(lastId)) {
            lastId = request.id
            yield { type: 'arrived', requests: [request], lastId }
          }
        } else {
          lastId = event.lastId
          yield event
        }
      }
    } catch (error) {
      signal.throwIfAborted()
      if (isFinal(error)) throw transport.refused(error)
      lost = transport.refused(error)
    }
    yield { type: 'lost', error: lost, waitMs }
    await wait(waitMs, signal)
    waitMs = Math.min(waitMs * 2, RECONNECT_MS.max)
  }
}

/** Whether an error ends the stream: a refusal or an unreadable answer. Other errors are retried. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof CreelError)) return false
  return error.status > 0 && error.status < 500 && error.status !== 429 && error.status !== 408
}
