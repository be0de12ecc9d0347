import { CreelError } from './error.ts'
import type { StreamEvent, WholeRequest } from './events.ts'
import { type StreamOptions, streamEvents, type WholeStreamOptions } from './follow.ts'
import { itemsByIdOf, PAGE_SIZE } from './paging.ts'
import { type CallOptions, dataOf, dataOrNull, queryText, signalOf, type Transport } from './transport.ts'
import type {
  CapturedRequest,
  CapturedRequestSummary,
  ExportFormat,
  ImportResult,
  ReplayResult,
  RequestFilters,
} from './types.ts'

/** The longest that one await call blocks; the client asks again for longer waits. */
const AWAIT_SECONDS_MAX = 60

/** Filters and timeout of an await. */
export type AwaitOptions = RequestFilters &
  CallOptions & {
    /** Seconds to wait, at least 1; 30 unless told. More than 60 takes several calls. */
    readonly timeoutSeconds?: number
  }

/** Requests that an endpoint captured. Every method rejects with a `CreelError` when the service refuses it. */
export class Requests {
  readonly #transport: Transport
  readonly #endpointId: string

  /** @internal */
  constructor(transport: Transport, endpointId: string) {
    this.#transport = transport
    this.#endpointId = endpointId
  }

  /**
   * Waits for a request that matches; one that is stored already counts. With `afterId` it answers the lowest match
   * above it, so that a loop misses nothing; without it, the newest.
   *
   * @returns null when none came in time
   */
  async await(options: AwaitOptions = {}): Promise<CapturedRequest | null> {
    const { timeoutSeconds = 30, signal, ...filters } = options
    const path = { endpointId: this.#endpointId }
    for (let left = timeoutSeconds; left > 0; left -= AWAIT_SECONDS_MAX) {
      const query = { ...filters, timeoutSeconds: Math.min(left, AWAIT_SECONDS_MAX) }
      const found = await dataOrNull(
        this.#transport.api.GET('/api/v1/endpoints/{endpointId}/requests/await', {
          params: { path, query },
          ...(signal === undefined ? {} : { signal }),
        }),
      )
      if (found !== null) return found
    }
    return null
  }

  /** Stored requests, newest first, read page by page as the loop goes on. */
  list(options: RequestFilters & CallOptions = {}): AsyncIterable<CapturedRequestSummary> {
    const { signal, ...filters } = options
    return itemsByIdOf((from) =>
      dataOf(
        this.#transport.api.GET('/api/v1/endpoints/{endpointId}/requests', {
          params: {
            path: { endpointId: this.#endpointId },
            query: { ...filters, ...from, pageSize: PAGE_SIZE },
          },
          ...(signal === undefined ? {} : { signal }),
        }),
      ),
    )
  }

  /** One request, whole. */
  get(requestId: number, options: CallOptions = {}): Promise<CapturedRequest> {
    return dataOf(
      this.#transport.api.GET('/api/v1/endpoints/{endpointId}/requests/{requestId}', {
        ...this.#at(requestId),
        ...signalOf(options),
      }),
    )
  }

  /** Yields every capture as it arrives, oldest first, each once, until the loop ends or `signal` aborts. */
  follow(options: WholeStreamOptions): AsyncGenerator<WholeRequest, void, undefined>
  follow(options?: StreamOptions): AsyncGenerator<CapturedRequestSummary, void, undefined>
  async *follow(options: StreamOptions = {}): AsyncGenerator<CapturedRequestSummary, void, undefined> {
    const afterId = options.afterId ?? (await this.#newestId(options))
    let lastId = afterId
    for await (const event of this.events({ ...options, afterId })) {
      const arrivals =
        event.type === 'arrived'
          ? event.requests
          : event.type === 'behind'
            ? this.#newerThan(lastId, options)
            : []
      for await (const request of arrivals) {
        if (request.id <= lastId) continue
        lastId = request.id
        yield request
      }
    }
  }

  /** The live stream itself: arrivals, changes of deliveries, and replays for a named listener. */
  events(options: WholeStreamOptions): AsyncGenerator<StreamEvent<WholeRequest>, void, undefined>
  events(options?: StreamOptions): AsyncGenerator<StreamEvent, void, undefined>
  events(options: StreamOptions = {}): AsyncGenerator<StreamEvent, void, undefined> {
    return streamEvents(this.#transport, this.#endpointId, options, () => this.#newestId(options))
  }

  /** Sends a request again, now and once: through every action whose condition matches, or through one. */
  replay(
    requestId: number,
    { actionId, ...options }: CallOptions & { readonly actionId?: string } = {},
  ): Promise<ReplayResult> {
    return dataOf(
      this.#transport.api.POST('/api/v1/endpoints/{endpointId}/requests/{requestId}/replay', {
        params: {
          path: { endpointId: this.#endpointId, requestId },
          query: actionId === undefined ? {} : { actionId },
        },
        ...signalOf(options),
      }),
    )
  }

  /**
   * Exports a request as a command, a program, a HAR file or the raw message.
   *
   * @param includeSecrets without it, the values of headers that are named like credentials read `***`
   */
  async export(
    requestId: number,
    format: ExportFormat,
    { includeSecrets = false, signal }: CallOptions & { readonly includeSecrets?: boolean } = {},
  ): Promise<Blob> {
    const path = `${this.#path()}/${requestId}/export${queryText({ format, includeSecrets })}`
    return await (await this.#transport.send(path, signal === undefined ? {} : { signal })).blob()
  }

  /** Every matching request, oldest first, as NDJSON or as a HAR file: a stream, of any size. */
  async exportAll(
    options: RequestFilters &
      CallOptions & { readonly format?: 'ndjson' | 'har'; readonly includeSecrets?: boolean } = {},
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const { signal, ...query } = options
    const response = await this.#transport.send(
      `${this.#path()}/export${queryText(query)}`,
      signal === undefined ? {} : { signal },
    )
    return response.body ?? new ReadableStream({ start: (controller) => controller.close() })
  }

  /**
   * Stores requests that were exported as NDJSON, with their times of capture; nothing is dispatched.
   *
   * @param lines a stream is sent as it is read, and so is never retried
   */
  async import(
    lines: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>,
    options: CallOptions = {},
  ): Promise<ImportResult> {
    const response = await this.#transport.send(`${this.#path()}/import`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-ndjson' },
      body: lines,
      ...signalOf(options),
    })
    const result: unknown = await response.json()
    if (isImportResult(result)) return result
    const detail = 'The answer does not say what was imported.'
    throw new CreelError({ code: 'unexpected_answer', status: response.status, detail })
  }

  /** Moves a request to the recycle bin. */
  async delete(requestId: number, options: CallOptions = {}): Promise<void> {
    await dataOrNull(
      this.#transport.api.DELETE('/api/v1/endpoints/{endpointId}/requests/{requestId}', {
        ...this.#at(requestId),
        ...signalOf(options),
      }),
    )
  }

  /** Moves every stored request to the recycle bin. */
  clear(options: CallOptions = {}): Promise<{ deletedCount: number }> {
    return dataOf(
      this.#transport.api.DELETE('/api/v1/endpoints/{endpointId}/requests', {
        params: { path: { endpointId: this.#endpointId } },
        ...signalOf(options),
      }),
    )
  }

  #path() {
    return `/api/v1/endpoints/${this.#endpointId}/requests`
  }

  #at(requestId: number) {
    return { params: { path: { endpointId: this.#endpointId, requestId } } }
  }

  async #newestId(options: CallOptions): Promise<number> {
    const page = await this.#page({ page: 1, pageSize: 1 }, options)
    return page.items[0]?.id ?? 0
  }

  /**
   * Oldest first. Always reads the last of the remaining pages: arrivals shift pages, but the oldest stay on the last
   * one.
   */
  async *#newerThan(
    id: number,
    { listener: _listener, whole: _whole, newest: _newest, signal, ...filters }: StreamOptions,
  ): AsyncGenerator<CapturedRequestSummary, void, undefined> {
    for (let afterId = id; ; ) {
      const options = signal === undefined ? {} : { signal }
      const query = { ...filters, afterId, pageSize: PAGE_SIZE }
      const first = await this.#page(query, options)
      let page = first
      while (page.search?.complete !== false && page.page < page.totalPages) {
        page = await this.#page({ ...query, page: page.totalPages }, options)
      }
      // A search that reached its time limit has not seen the oldest: then the list is walked to its end.
      const items: CapturedRequestSummary[] = []
      if (page.search?.complete === false) {
        for (
          page = first;
          page.next !== null;
          page = await this.#page({ ...query, before: page.next }, options)
        ) {
          items.push(...page.items)
        }
      }
      const oldestFirst = [...items, ...page.items].reverse()
      yield* oldestFirst
      const last = oldestFirst.at(-1)
      if (last === undefined) return
      afterId = last.id
    }
  }

  #page(query: RequestFilters & { page?: number; before?: string; pageSize: number }, options: CallOptions) {
    return dataOf(
      this.#transport.api.GET('/api/v1/endpoints/{endpointId}/requests', {
        params: { path: { endpointId: this.#endpointId }, query },
        ...signalOf(options),
      }),
    )
  }
}

function isImportResult(value: unknown): value is ImportResult {
  return typeof value === 'object' && value !== null && 'importedCount' in value
}
