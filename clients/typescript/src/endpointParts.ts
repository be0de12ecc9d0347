import type { Calls } from './calls.ts'
import { itemsByIdOf, PAGE_SIZE } from './paging.ts'
import type { CallOptions } from './transport.ts'
import type {
  Action,
  ActionChange,
  DeliveryAttempt,
  DeliveryAttemptDetail,
  DeliveryFilters,
  NewAction,
  RuleDocument,
  RuleView,
} from './types.ts'

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
