import { eventOf, type StreamEvent } from './events.ts'
import { type Link, resumed } from './resumed.ts'
import { type CallOptions, queryText, type Transport } from './transport.ts'
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

export interface Streamed {
  readonly transport: Transport
  readonly endpointId: string
  readonly options: StreamOptions
  /** The newest id that is stored now; asked once, where the stream starts at the present. */
  readonly newestId: () => Promise<number>
  /** Reads the requests after an id, oldest first. Without it `behind` is an event. */
  readonly missed?: (afterId: number) => AsyncIterable<CapturedRequestSummary | WholeRequest>
}

/** The live stream's events and the states of its connection, for as long as the reader reads. */
export async function* streamEvents({
  transport,
  endpointId,
  options: { afterId, signal, timeoutMs: _, ...query },
  newestId,
  missed,
}: Streamed): AsyncGenerator<StreamEvent | Link, void, undefined> {
  // Without an id to resume after, requests that arrive while a broken stream is opened again would be missed.
  let lastId = afterId ?? (await newestId())
  const path = `/api/v1/endpoints/${encodeURIComponent(endpointId)}/requests/stream`
  yield* resumed(transport, {
    signal,
    open: () => ({ path: path + queryText({ ...query, afterId: lastId }) }),
    async *read(sent): AsyncGenerator<StreamEvent | Link> {
      const event = eventOf(sent, lastId)
      if (event?.type === 'behind' && missed !== undefined) {
        for await (const request of missed(lastId)) {
          lastId = request.id
          yield { type: 'arrived', requests: [request], lastId }
        }
        return
      }
      lastId = event?.lastId ?? lastId
      yield event ?? { type: 'alive' }
    },
  })
}
