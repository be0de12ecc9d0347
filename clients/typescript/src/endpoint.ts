/// <reference lib="esnext.disposable" preserve="true" />

import type { Calls } from './calls.ts'
import { Actions, Deliveries, Rules } from './endpointParts.ts'
import { Requests } from './requests.ts'
import type { CallOptions, Transport } from './transport.ts'
import type { EndpointChange, EndpointData, EndpointStats } from './types.ts'

/** A capture endpoint: its URL, settings, requests and actions. */
export class Endpoint {
  readonly id: string
  /** The capture URL. It needs no key: every client that has it can send. */
  readonly url: string
  readonly requests: Requests
  readonly actions: Actions
  readonly deliveries: Deliveries
  readonly rules: Rules
  readonly #calls: Calls['endpoints']
  #data: EndpointData

  /** @internal */
  constructor(transport: Transport, calls: Calls, data: EndpointData) {
    this.#calls = calls.endpoints
    this.#data = data
    this.id = data.id
    this.url = data.url
    this.requests = new Requests(transport, calls, data.id)
    this.actions = new Actions(calls, data.id)
    this.deliveries = new Deliveries(calls, data.id)
    this.rules = new Rules(calls, data.id)
  }

  get name(): string {
    return this.#data.name
  }

  /** Every member, as it was last read or written. */
  get data(): EndpointData {
    return this.#data
  }

  /** Reads the endpoint again. */
  async refresh(options: CallOptions = {}): Promise<EndpointData> {
    this.#data = await this.#calls.get({ endpointId: this.id }, options)
    return this.#data
  }

  /** Changes what `change` names, and nothing else. */
  async update(change: EndpointChange, options: CallOptions = {}): Promise<EndpointData> {
    this.#data = await this.#calls.update({ ...change, endpointId: this.id }, options)
    return this.#data
  }

  stats(options: CallOptions = {}): Promise<EndpointStats> {
    return this.#calls.stats({ endpointId: this.id }, options)
  }

  /** Deletes the endpoint and everything that it captured, for good. */
  delete(options: CallOptions = {}): Promise<void> {
    return this.#calls.remove({ endpointId: this.id }, options)
  }

  /** `await using endpoint = …` deletes it at the end of the block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.delete()
  }
}
