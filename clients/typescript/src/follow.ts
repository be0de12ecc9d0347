import { CreelError } from './error.ts'
import { eventOf, type StreamEvent } from './events.ts'
import { serverEvents } from './sse.ts'
import { type CallOptions, queryText, type Transport, wait } from './transport.ts'
import type { RequestFilters } from './types.ts'

/** Filters and mode of a stream, and where it starts: with `afterId` after this id, without it now. */
export interface StreamOptions extends CallOptions, RequestFilters {
  /** Names a listener that replays can be sent to, 1 to 64 characters. Requests arrive whole. */
  readonly listener?: string
  /** Requests arrive with target, headers and body, however many there are; changes of deliveries do not. */
  readonly whole?: boolean
  /** `behind` brings the newest requests. Only without filters. */
  readonly newest?: boolean
}

/** Options of a stream whose requests arrive whole. */
export type WholeStreamOptions = StreamOptions & ({ readonly whole: true } | { readonly listener: string })

const RECONNECT_MS = { first: 250, max: 10_000 } as const

/**
 * The live stream's events, for as long as the reader reads: a stream that breaks or ends is opened again where it
 * ended.
 *
 * @param newestId the newest id that is stored now, read once where the stream starts at the present
 * @throws CreelError when the service refuses the stream (the endpoint was deleted, the key revoked), or sends an event
 * that cannot be read
 */
export async function* streamEvents(
  transport: Transport,
  endpointId: string,
  { afterId, signal = new AbortController().signal, ...query }: StreamOptions,
  newestId: () => Promise<number>,
): AsyncGenerator<StreamEvent, void, undefined> {
  // Without an id to resume after, requests that arrive while a broken stream is opened again would be missed.
  let lastId = afterId ?? (await newestId())
  let pauseMs: number = RECONNECT_MS.first
  for (;;) {
    signal.throwIfAborted()
    const path = `/api/v1/endpoints/${endpointId}/requests/stream${queryText({ ...query, afterId: lastId })}`
    try {
      const response = await transport.send(path, { headers: { Accept: 'text/event-stream' }, signal })
      if (response.body === null) throw new TypeError('The stream has no body.')
      for await (const sent of serverEvents(response.body)) {
        pauseMs = RECONNECT_MS.first
        const event = eventOf(sent, lastId)
        if (event === null) continue
        lastId = event.lastId
        yield event
      }
    } catch (error) {
      signal.throwIfAborted()
      if (isFinal(error)) throw error
    }
    await wait(pauseMs, signal)
    pauseMs = Math.min(pauseMs * 2, RECONNECT_MS.max)
  }
}

/** Whether an error ends the stream: a refusal or an unreadable answer. Other errors are retried. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof CreelError)) return false
  return error.status > 0 && error.status < 500 && error.status !== 429
}
