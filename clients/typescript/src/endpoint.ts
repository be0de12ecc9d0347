/// <reference lib="esnext.disposable" preserve="true" />
import { Actions, Deliveries, Rules } from './endpointParts.ts'
import { Requests } from './requests.ts'
import { type CallOptions, dataOf, dataOrNull, signalOf, type Transport } from './transport.ts'
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
  readonly #transport: Transport
  #data: EndpointData

  /** @internal */
  constructor(transport: Transport, data: EndpointData) {
    this.#transport = transport
    this.#data = data
    this.id = data.id
    this.url = data.url
    this.requests = new Requests(transport, data.id)
    this.actions = new Actions(transport, data.id)
    this.deliveries = new Deliveries(transport, data.id)
    this.rules = new Rules(transport, data.id)
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
    this.#data = await dataOf(
      this.#transport.api.GET('/api/v1/endpoints/{endpointId}', { ...this.#at(), ...signalOf(options) }),
    )
    return this.#data
  }

  /** Changes what `change` names, and nothing else. */
  async update(change: EndpointChange, options: CallOptions = {}): Promise<EndpointData> {
    this.#data = await dataOf(
      this.#transport.api.PATCH('/api/v1/endpoints/{endpointId}', {
        ...this.#at(),
        body: change,
        ...signalOf(options),
      }),
    )
    return this.#data
  }

  stats(options: CallOptions = {}): Promise<EndpointStats> {
    return dataOf(
      this.#transport.api.GET('/api/v1/endpoints/{endpointId}/stats', {
        ...this.#at(),
        ...signalOf(options),
      }),
    )
  }

  /** Deletes the endpoint and everything that it captured, for good. */
  async delete(options: CallOptions = {}): Promise<void> {
    await dataOrNull(
      this.#transport.api.DELETE('/api/v1/endpoints/{endpointId}', { ...this.#at(), ...signalOf(options) }),
    )
  }

  /** `await using endpoint = …` deletes it at the end of the block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.delete()
  }

  #at() {
    return { params: { path: { endpointId: this.id } } }
  }
}
