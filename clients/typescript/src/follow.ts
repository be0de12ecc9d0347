import { CreelError } from './error.ts'
import type { components } from './schema.ts'
import { serverEvents } from './sse.ts'
import { type CallOptions, queryText, type Transport, wait } from './transport.ts'
import type { RequestFilters } from './types.ts'

type Summary = components['schemas']['CapturedRequestSummary']

/** What the live stream of an endpoint tells. */
export type StreamEvent =
  /** Captures, oldest first; `lastId` is what a later stream resumes after. */
  | { readonly type: 'arrived'; readonly requests: readonly Summary[]; readonly lastId: number }
  /** Deliveries of earlier captures got on. */
  | {
      readonly type: 'changed'
      readonly states: readonly {
        readonly id: number
        readonly state: Summary['state']
        readonly attemptCount: number
      }[]
    }
  /** Too much arrived in between: read what is newer than the last id by pages. The stream itself goes on. */
  | { readonly type: 'behind'; readonly lastId: number }
  /** A capture is to be sent to this listener again. */
  | { readonly type: 'replay'; readonly requestId: number; readonly deliveryId: string }

/** What a stream tells of, and where it starts: with `afterId` at what is newer than this id, without it now. */
export interface StreamOptions extends CallOptions, RequestFilters {
  /** Names a listener that replays can be sent to, 1 to 64 characters. */
  readonly listener?: string
}

const RECONNECT_MS = { first: 250, max: 10_000 } as const

/**
 * The live stream's events, for as long as the reader reads: a stream that breaks or ends is opened again where it
 * ended.
 *
 * @param newestId the newest id that is stored now, read once where the stream starts at the present
 * @throws CreelError when the service refuses the stream (the endpoint was deleted, the key revoked)
 */
export async function* streamEvents(
  transport: Transport,
  endpointId: string,
  { afterId, signal = new AbortController().signal, ...filters }: StreamOptions,
  newestId: () => Promise<number>,
): AsyncGenerator<StreamEvent, void, undefined> {
  // Without a place to resume at, what arrives while a broken stream is opened again would be missed.
  let lastId = afterId ?? (await newestId())
  let pauseMs: number = RECONNECT_MS.first
  for (;;) {
    signal.throwIfAborted()
    const query = queryText({ ...filters, afterId: lastId })
    try {
      const response = await transport.send(`/api/v1/endpoints/${endpointId}/requests/stream${query}`, {
        headers: { Accept: 'text/event-stream' },
        signal,
      })
      if (response.body === null) throw new TypeError('The stream has no body.')
      for await (const raw of serverEvents(response.body)) {
        pauseMs = RECONNECT_MS.first
        const event = eventOf(raw.event, raw.data, raw.id, lastId)
        if (event === null) continue
        if (event.type === 'arrived' || event.type === 'behind') lastId = Math.max(lastId, event.lastId)
        yield event
      }
    } catch (error) {
      signal.throwIfAborted()
      const refused = error instanceof CreelError && error.status >= 400 && error.status < 500
      if (refused && error.status !== 429) throw error
    }
    await wait(pauseMs, signal)
    pauseMs = Math.min(pauseMs * 2, RECONNECT_MS.max)
  }
}

/** Null for events of a newer service, and for what cannot be read. */
function eventOf(name: string, data: string, id: string | null, lastId: number): StreamEvent | null {
  // The names and members are those of the API's description.
  const value = JSON.parse(data)
  if (name === 'arrived') {
    const requests: readonly Summary[] = value.requests
    return { type: 'arrived', requests, lastId: id === null ? (requests.at(-1)?.id ?? lastId) : Number(id) }
  }
  if (name === 'changed') return { type: 'changed', states: value.states }
  if (name === 'behind') return { type: 'behind', lastId: value.lastId }
  if (name === 'replay') return { type: 'replay', requestId: value.requestId, deliveryId: value.deliveryId }
  return null
}
