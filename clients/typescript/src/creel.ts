import { type CallRoute, callerOf, followerOf } from './call.ts'
import { type Calls, callsOf, type Streams, streamsOf } from './calls.ts'
import { Endpoint } from './endpoint.ts'
import { itemsOf, PAGE_SIZE } from './paging.ts'
import { Requests } from './requests.ts'
import {
  type CallOptions,
  type CreelOptions,
  createTransport,
  type RawApi,
  type Sending,
  type Transport,
} from './transport.ts'
import type { Me, NewEndpoint, NewWatchdog, Watchdog, WatchdogChange, WatchdogSuggestion } from './types.ts'

/** A client of one workspace. */
export interface Creel {
  readonly endpoints: Endpoints
  readonly watchdogs: Watchdogs
  /** The key, its workspace, and the limits of its plan. */
  me(options?: CallOptions): Promise<Me>
  /** Every operation of the API that takes and answers JSON, by its name: `calls.alertChannels.test({ id })`. */
  readonly calls: Calls
  /** Calls an operation that this version does not know by its route: `call('POST /api/v1/endpoints/{endpointId}/actions', { endpointId, … })`. */
  readonly call: CallRoute
  /** Every stream of the API, by its name; its events are as the service sends them. */
  readonly streams: Streams
  /** One request of any path, for bodies and answers that are not JSON. Rejects for a refusal, like every call. */
  send(path: string, sending?: Sending): Promise<Response>
  /**
   * Every path of the API, typed by its description. It does not reject by status. Calls are retried like all others.
   */
  readonly api: RawApi
}

/** A client for one key. Opens no connection, and sends nothing until it is called. */
export function createCreel(options: CreelOptions): Creel {
  const transport = createTransport(options)
  const call = callerOf(transport)
  const calls = callsOf((route) => (input, options) => call(route, Object(input), options))
  return {
    endpoints: new Endpoints(transport, calls),
    watchdogs: new Watchdogs(calls),
    me: (options) => calls.me.get({}, options),
    calls,
    call,
    streams: streamsOf(followerOf(transport)),
    send: (path, sending) => transport.ask(path, sending, (answer) => answer),
    api: transport.api,
  }
}

/** The workspace's capture endpoints. */
export class Endpoints {
  readonly #transport: Transport
  readonly #calls: Calls

  /** @internal */
  constructor(transport: Transport, calls: Calls) {
    this.#transport = transport
    this.#calls = calls
  }

  /** Makes an endpoint; with `ttlSeconds` one that is deleted by itself. */
  async create(members: NewEndpoint = {}, options: CallOptions = {}): Promise<Endpoint> {
    return new Endpoint(this.#transport, this.#calls, await this.#calls.endpoints.create(members, options))
  }

  async get(endpointId: string, options: CallOptions = {}): Promise<Endpoint> {
    return new Endpoint(
      this.#transport,
      this.#calls,
      await this.#calls.endpoints.get({ endpointId }, options),
    )
  }

  requests(endpointId: string): Requests {
    return new Requests(this.#transport, this.#calls, endpointId)
  }

  /** Newest first, read page by page as the loop goes on. */
  async *list(options: CallOptions = {}): AsyncGenerator<Endpoint, void, undefined> {
    const { list } = this.#calls.endpoints
    const all = itemsOf((from) => list({ ...from, pageSize: PAGE_SIZE }, options))
    for await (const data of all) yield new Endpoint(this.#transport, this.#calls, data)
  }
}

/** Dead man's switches: they raise an alarm when an expected capture does not arrive. */
export class Watchdogs {
  readonly #calls: Calls['watchdogs']

  /** @internal */
  constructor(calls: Calls) {
    this.#calls = calls.watchdogs
  }

  /** Newest first, read page by page as the loop goes on. */
  list(options: CallOptions = {}): AsyncIterable<Watchdog> {
    return itemsOf((from) => this.#calls.list({ ...from, pageSize: PAGE_SIZE }, options))
  }

  /** Creates a watchdog, armed with the endpoint's history. */
  create(watchdog: NewWatchdog, options: CallOptions = {}): Promise<Watchdog> {
    return this.#calls.create(watchdog, options)
  }

  get(id: string, options: CallOptions = {}): Promise<Watchdog> {
    return this.#calls.get({ id }, options)
  }

  update(id: string, change: WatchdogChange, options: CallOptions = {}): Promise<Watchdog> {
    return this.#calls.update({ ...change, id }, options)
  }

  delete(id: string, options: CallOptions = {}): Promise<void> {
    return this.#calls.remove({ id }, options)
  }

  /** Suggests an interval from an endpoint's history. `available` is false if the history is too short. */
  suggest(endpointId: string, options: CallOptions = {}): Promise<WatchdogSuggestion> {
    return this.#calls.suggest({ endpointId }, options)
  }
}
