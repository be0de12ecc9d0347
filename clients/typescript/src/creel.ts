import { Endpoint } from './endpoint.ts'
import { itemsOf, PAGE_SIZE } from './paging.ts'
import {
  type CallOptions,
  type CreelOptions,
  createTransport,
  dataOf,
  dataOrNull,
  type RawApi,
  signalOf,
  type Transport,
} from './transport.ts'
import type { Me, NewEndpoint, NewWatchdog, Watchdog, WatchdogChange, WatchdogSuggestion } from './types.ts'

/** A client of one workspace. */
export interface Creel {
  readonly endpoints: Endpoints
  readonly watchdogs: Watchdogs
  /** The key, its workspace, and the limits of its plan. */
  me(options?: CallOptions): Promise<Me>
  /**
   * Every path of the API, typed by its description. It does not reject by status. Calls are retried like all others.
   */
  readonly api: RawApi
}

/** A client for one key. Opens no connection, and sends nothing until it is called. */
export function createCreel(options: CreelOptions): Creel {
  const transport = createTransport(options)
  return {
    endpoints: new Endpoints(transport),
    watchdogs: new Watchdogs(transport),
    me: (call = {}) => dataOf(transport.api.GET('/api/v1/me', signalOf(call))),
    api: transport.api,
  }
}

/** The workspace's capture endpoints. */
export class Endpoints {
  readonly #transport: Transport

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Makes an endpoint; with `ttlSeconds` one that is deleted by itself. */
  async create(members: NewEndpoint = {}, options: CallOptions = {}): Promise<Endpoint> {
    const data = await dataOf(
      this.#transport.api.POST('/api/v1/endpoints', { body: members, ...signalOf(options) }),
    )
    return new Endpoint(this.#transport, data)
  }

  async get(endpointId: string, options: CallOptions = {}): Promise<Endpoint> {
    const data = await dataOf(
      this.#transport.api.GET('/api/v1/endpoints/{endpointId}', {
        params: { path: { endpointId } },
        ...signalOf(options),
      }),
    )
    return new Endpoint(this.#transport, data)
  }

  /** Newest first, read page by page as the loop goes on. */
  async *list(options: CallOptions = {}): AsyncGenerator<Endpoint, void, undefined> {
    const all = itemsOf((from) =>
      dataOf(
        this.#transport.api.GET('/api/v1/endpoints', {
          params: { query: { ...from, pageSize: PAGE_SIZE } },
          ...signalOf(options),
        }),
      ),
    )
    for await (const data of all) yield new Endpoint(this.#transport, data)
  }
}

/** Dead man's switches: they raise an alarm when an expected capture does not arrive. */
export class Watchdogs {
  readonly #transport: Transport

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Newest first, read page by page as the loop goes on. */
  list(options: CallOptions = {}): AsyncIterable<Watchdog> {
    return itemsOf((from) =>
      dataOf(
        this.#transport.api.GET('/api/v1/watchdogs', {
          params: { query: { ...from, pageSize: PAGE_SIZE } },
          ...signalOf(options),
        }),
      ),
    )
  }

  /** Creates a watchdog, armed with the endpoint's history. */
  create(watchdog: NewWatchdog, options: CallOptions = {}): Promise<Watchdog> {
    return dataOf(this.#transport.api.POST('/api/v1/watchdogs', { body: watchdog, ...signalOf(options) }))
  }

  get(id: string, options: CallOptions = {}): Promise<Watchdog> {
    return dataOf(
      this.#transport.api.GET('/api/v1/watchdogs/{id}', { params: { path: { id } }, ...signalOf(options) }),
    )
  }

  update(id: string, change: WatchdogChange, options: CallOptions = {}): Promise<Watchdog> {
    return dataOf(
      this.#transport.api.PUT('/api/v1/watchdogs/{id}', {
        params: { path: { id } },
        body: change,
        ...signalOf(options),
      }),
    )
  }

  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await dataOrNull(
      this.#transport.api.DELETE('/api/v1/watchdogs/{id}', {
        params: { path: { id } },
        ...signalOf(options),
      }),
    )
  }

  /** Suggests an interval from an endpoint's history. `available` is false if the history is too short. */
  suggest(endpointId: string, options: CallOptions = {}): Promise<WatchdogSuggestion> {
    return dataOf(
      this.#transport.api.GET('/api/v1/watchdogs/suggest', {
        params: { query: { endpointId } },
        ...signalOf(options),
      }),
    )
  }
}
