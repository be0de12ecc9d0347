/// <reference lib="esnext.disposable" preserve="true" />

import type { Calls } from './calls.ts'
import { itemsByIdOf, PAGE_SIZE } from './paging.ts'
import { Requests } from './requests.ts'
import type { CallOptions, Transport } from './transport.ts'
import type {
  Action,
  ActionChange,
  DeliveryAttempt,
  DeliveryAttemptDetail,
  DeliveryFilters,
  EndpointChange,
  EndpointData,
  EndpointStats,
  NewAction,
  RuleDocument,
  RuleView,
} from './types.ts'

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

  /** Counts the uses of scripted answers from 0 again. */
  async resetResponses(options: CallOptions = {}): Promise<EndpointData> {
    this.#data = await this.#calls.resetResponses({ endpointId: this.id }, options)
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

/** A group of calls about one endpoint. */
abstract class EndpointPart {
  protected readonly calls: Calls
  protected readonly endpointId: string

  /** @internal */
  constructor(calls: Calls, endpointId: string) {
    this.calls = calls
    this.endpointId = endpointId
  }
}

/** Actions on each captured request: forwards to a URL, messages to an alert channel. */
export class Actions extends EndpointPart {
  /** In their order. */
  async list(options: CallOptions = {}): Promise<readonly Action[]> {
    return (await this.calls.actions.list({ endpointId: this.endpointId }, options)).actions
  }

  create(action: NewAction, options: CallOptions = {}): Promise<Action> {
    return this.calls.actions.create({ ...action, endpointId: this.endpointId }, options)
  }

  update(actionId: string, change: ActionChange, options: CallOptions = {}): Promise<Action> {
    return this.calls.actions.update({ ...change, endpointId: this.endpointId, actionId }, options)
  }

  /** Removes the action and its rules, and drops its waiting deliveries. */
  delete(actionId: string, options: CallOptions = {}): Promise<void> {
    return this.calls.actions.remove({ endpointId: this.endpointId, actionId }, options)
  }
}

/** Every attempt at a delivery, with what was sent and received. */
export class Deliveries extends EndpointPart {
  /** Newest first, read page by page as the loop goes on. */
  list({
    signal,
    timeoutMs,
    ...filters
  }: DeliveryFilters & CallOptions = {}): AsyncIterable<DeliveryAttempt> {
    const { endpointId } = this
    return itemsByIdOf((from) =>
      this.calls.deliveries.list(
        { endpointId, ...filters, ...from, pageSize: PAGE_SIZE },
        { signal, timeoutMs },
      ),
    )
  }

  get(attemptId: number, options: CallOptions = {}): Promise<DeliveryAttemptDetail> {
    return this.calls.deliveries.get({ endpointId: this.endpointId, attemptId }, options)
  }
}

/** Transformation rules, which change the message to a forward destination. */
export class Rules extends EndpointPart {
  /** In their order. */
  async list(options: CallOptions = {}): Promise<readonly RuleView[]> {
    return (await this.calls.transformations.getSet({ endpointId: this.endpointId }, options)).rules
  }

  /** Adds a rule; it runs last. Needs a forward action. */
  create(rule: RuleDocument, options: CallOptions = {}): Promise<RuleView> {
    return this.calls.transformations.create({ ...rule, endpointId: this.endpointId }, options)
  }

  delete(ruleId: string, options: CallOptions = {}): Promise<void> {
    return this.calls.transformations.remove({ endpointId: this.endpointId, ruleId }, options)
  }
}
