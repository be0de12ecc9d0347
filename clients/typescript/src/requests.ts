import { jsonOf } from './call.ts'
import type { Calls } from './calls.ts'
import type { FeedEvent, StreamEvent } from './events.ts'
import { type StreamOptions, streamEvents, type WholeStreamOptions } from './follow.ts'
import { type From, itemsByIdOf, itemsOf, PAGE_SIZE } from './paging.ts'
import { type CallOptions, queryText, type Sending, type Transport } from './transport.ts'
import type {
  CapturedRequest,
  CapturedRequestSummary,
  ExportFormat,
  ImportResult,
  ReplayResult,
  RequestFilters,
  WholeRequest,
} from './types.ts'

/** The longest that one await call blocks; the client asks again for longer waits. */
const AWAIT_SECONDS_MAX = 60

export type AwaitOptions = RequestFilters &
  CallOptions & {
    /** Seconds to wait, at least 1; 30 unless told. More than 60 takes several calls. */
    readonly timeoutSeconds?: number
  }

/** Requests that an endpoint captured. Every method rejects with a `CreelError` when the service refuses it. */
export class Requests {
  readonly #transport: Transport
  readonly #calls: Calls['requests']
  readonly #endpointId: string

  /** @internal */
  constructor(transport: Transport, calls: Calls, endpointId: string) {
    this.#transport = transport
    this.#calls = calls.requests
    this.#endpointId = endpointId
  }

  /**
   * Waits for a request that matches; one that is stored already counts. With `afterId` it answers the lowest match
   * above it, so that a loop misses nothing; without it, the newest.
   *
   * @returns null when none came in time
   */
  async await(options: AwaitOptions = {}): Promise<CapturedRequest | null> {
    const { timeoutSeconds = 30, signal, timeoutMs, ...filters } = options
    const endpointId = this.#endpointId
    // The service takes whole seconds.
    let left = Math.ceil(timeoutSeconds)
    do {
      const query = { ...filters, timeoutSeconds: Math.min(left, AWAIT_SECONDS_MAX) }
      const found = await this.#calls.await({ endpointId, ...query }, { signal, timeoutMs })
      if (found !== undefined) return found
      left -= AWAIT_SECONDS_MAX
    } while (left > 0)
    return null
  }

  /** Stored requests, newest first, read page by page as the loop goes on. */
  list({
    signal,
    timeoutMs,
    ...filters
  }: RequestFilters & CallOptions = {}): AsyncIterable<CapturedRequestSummary> {
    const read = (from: From) =>
      this.#page({ ...filters, ...from, pageSize: PAGE_SIZE }, { signal, timeoutMs })
    return itemsByIdOf(read, filters.order)
  }

  /** One request, whole. */
  get(requestId: number, options: CallOptions = {}): Promise<CapturedRequest> {
    return this.#calls.get(this.#at(requestId), options)
  }

  /** Yields every capture as it arrives, oldest first, each once, until the loop ends or `signal` aborts. */
  follow(options: WholeStreamOptions): AsyncGenerator<WholeRequest, void, undefined>
  follow(options?: StreamOptions): AsyncGenerator<CapturedRequestSummary, void, undefined>
  async *follow(options: StreamOptions = {}): AsyncGenerator<CapturedRequestSummary, void, undefined> {
    for await (const event of this.feed(options)) if (event.type === 'arrived') yield* event.requests
  }

  /** The live stream itself: arrivals, changes of deliveries, and replays for a named listener. */
  events(options: WholeStreamOptions): AsyncGenerator<StreamEvent<WholeRequest>, void, undefined>
  events(options?: StreamOptions): AsyncGenerator<StreamEvent, void, undefined>
  async *events(options: StreamOptions = {}): AsyncGenerator<StreamEvent, void, undefined> {
    for await (const event of streamEvents(this.#streamed(options))) {
      if (event.type !== 'connected' && event.type !== 'alive' && event.type !== 'lost') yield event
    }
  }

  /**
   * The live stream with the states of its connection, and without gaps: where too much arrives, the requests are read by pages.
   * Each arrives once, oldest first.
   */
  feed(options: WholeStreamOptions): AsyncGenerator<FeedEvent<WholeRequest>, void, undefined>
  feed(options?: StreamOptions): AsyncGenerator<FeedEvent, void, undefined>
  async *feed(options: StreamOptions = {}): AsyncGenerator<FeedEvent, void, undefined> {
    const missed = (afterId: number) => this.#newerThan(afterId, options)
    let lastId = options.afterId ?? 0
    for await (const event of streamEvents({ ...this.#streamed(options), missed })) {
      if (event.type === 'behind') continue
      if (event.type !== 'arrived') yield event
      else {
        yield { ...event, requests: event.requests.filter(({ id }) => id > lastId) }
        lastId = event.lastId
      }
    }
  }

  /** Sends a request again, now and once: through every action whose condition matches, or through one. */
  replay(
    requestId: number,
    { actionId, ...options }: CallOptions & { readonly actionId?: string } = {},
  ): Promise<ReplayResult> {
    return this.#calls.replay(
      { ...this.#at(requestId), ...(actionId === undefined ? {} : { actionId }) },
      options,
    )
  }

  /**
   * Exports a request as a command, a program, a HAR file or the raw message.
   *
   * @param includeSecrets without it, the values of headers that are named like credentials read `***`
   */
  export(
    requestId: number,
    format: ExportFormat,
    { includeSecrets = false, ...options }: CallOptions & { readonly includeSecrets?: boolean } = {},
  ): Promise<Blob> {
    const query = queryText({ format, includeSecrets })
    return this.#ask(`/${requestId}/export${query}`, options, (response) => response.blob())
  }

  /** Every matching request, oldest first, as NDJSON or as a HAR file: a stream, of any size. */
  async exportAll(
    options: RequestFilters &
      CallOptions & { readonly format?: 'ndjson' | 'har'; readonly includeSecrets?: boolean } = {},
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const { signal, timeoutMs, ...query } = options
    const sending = { signal, timeoutMs }
    const reader = await this.#ask(`/export${queryText(query)}`, sending, (response) =>
      response.body?.getReader(),
    )
    return new ReadableStream({
      pull: async (controller) => {
        const read = await reader?.read().catch((error) => this.#transport.brokenOff(error, signal))
        if (read?.value) controller.enqueue(read.value)
        else controller.close()
      },
      cancel: (reason) => reader?.cancel(reason),
    })
  }

  /**
   * Stores requests that were exported as NDJSON, with their times of capture; nothing is dispatched.
   *
   * @param lines a stream is sent as it is read, and so is never retried
   */
  import(
    lines: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>,
    options: CallOptions = {},
  ): Promise<ImportResult> {
    const headers = { 'Content-Type': 'application/x-ndjson' }
    const sending = { ...options, method: 'POST', headers, body: lines }
    return this.#ask('/import', sending, (response) => jsonOf(response, ['importedCount', Number.isInteger]))
  }

  /** Writes a note on a request, for people, in place of the one before; null removes it. */
  note(requestId: number, note: string | null, options: CallOptions = {}): Promise<CapturedRequestSummary> {
    return this.#calls.update({ ...this.#at(requestId), note }, options)
  }

  /** Moves a request to the recycle bin. */
  delete(requestId: number, options: CallOptions = {}): Promise<void> {
    return this.#calls.remove(this.#at(requestId), options)
  }

  /** Moves every stored request to the recycle bin. */
  clear(options: CallOptions = {}): Promise<{ deletedCount: number }> {
    return this.#calls.clear({ endpointId: this.#endpointId }, options)
  }

  #ask<Read>(path: string, sending: Sending, read: (answer: Response) => Read | Promise<Read>) {
    return this.#transport.ask(`/api/v1/endpoints/${this.#endpointId}/requests${path}`, sending, read)
  }

  #at(requestId: number) {
    return { endpointId: this.#endpointId, requestId }
  }

  #streamed(options: StreamOptions) {
    const newestId = async () => (await this.#page({ pageSize: 1 }, options)).items[0]?.id ?? 0
    return { transport: this.#transport, endpointId: this.#endpointId, options, newestId }
  }

  /** The requests after an id, oldest first, until there are no more. */
  async *#newerThan(
    id: number,
    {
      listener,
      whole = listener !== undefined,
      newest: _newest,
      signal,
      timeoutMs,
      ...filters
    }: StreamOptions,
  ): AsyncGenerator<CapturedRequestSummary | WholeRequest, void, undefined> {
    const options = { signal, timeoutMs }
    for (let afterId = id; ; ) {
      const query = { ...filters, afterId, pageSize: PAGE_SIZE }
      let last: number | undefined
      for await (const summary of this.#oldestFirst(query, options)) {
        last = summary.id
        const request = whole ? await this.#stillThere(summary.id, options) : summary
        if (request !== null) yield request
      }
      if (last === undefined) return
      afterId = last
    }
  }

  async *#oldestFirst(query: ListQuery, options: CallOptions) {
    let page = await this.#page(query, options)
    if (page.next === null) yield* [...page.items].reverse()
    else if (page.next !== undefined) {
      yield* itemsOf((from) => this.#page({ ...query, ...from, order: 'asc' }, options))
    } else {
      // A service before 0.2.0. Arrivals shift pages, but the oldest stay on the last one.
      while (page.page < page.totalPages)
        page = await this.#page({ ...query, page: page.totalPages }, options)
      yield* [...page.items].reverse()
    }
  }

  /** One request, whole; null when it was deleted meanwhile. */
  async #stillThere(requestId: number, options: CallOptions): Promise<CapturedRequest | null> {
    return await this.get(requestId, options).catch((error: unknown) => {
      if (Object(error).status === 404) return null
      throw error
    })
  }

  #page(query: ListQuery, options: CallOptions) {
    return this.#calls.list({ endpointId: this.#endpointId, ...query, partial: true }, options)
  }
}

type ListQuery = RequestFilters & { page?: number; before?: string; pageSize: number }
