import { itemsByIdOf, PAGE_SIZE } from './paging.ts'
import { type CallOptions, dataOf, dataOrNull, signalOf, type Transport } from './transport.ts'
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
  protected readonly transport: Transport
  protected readonly endpointId: string

  /** @internal */
  constructor(transport: Transport, endpointId: string) {
    this.transport = transport
    this.endpointId = endpointId
  }
}

/** Actions on each captured request: forwards to a URL, messages to an alert channel. */
export class Actions extends EndpointPart {
  /** In their order. */
  async list(options: CallOptions = {}): Promise<readonly Action[]> {
    const { actions } = await dataOf(
      this.transport.api.GET('/api/v1/endpoints/{endpointId}/actions', {
        params: { path: { endpointId: this.endpointId } },
        ...signalOf(options),
      }),
    )
    return actions
  }

  create(action: NewAction, options: CallOptions = {}): Promise<Action> {
    return dataOf(
      this.transport.api.POST('/api/v1/endpoints/{endpointId}/actions', {
        params: { path: { endpointId: this.endpointId } },
        body: action,
        ...signalOf(options),
      }),
    )
  }

  update(actionId: string, change: ActionChange, options: CallOptions = {}): Promise<Action> {
    return dataOf(
      this.transport.api.PUT('/api/v1/endpoints/{endpointId}/actions/{actionId}', {
        params: { path: { endpointId: this.endpointId, actionId } },
        body: change,
        ...signalOf(options),
      }),
    )
  }

  /** Removes the action and its rules, and drops its waiting deliveries. */
  async delete(actionId: string, options: CallOptions = {}): Promise<void> {
    await dataOrNull(
      this.transport.api.DELETE('/api/v1/endpoints/{endpointId}/actions/{actionId}', {
        params: { path: { endpointId: this.endpointId, actionId } },
        ...signalOf(options),
      }),
    )
  }
}

/** Every attempt at a delivery, with what was sent and received. */
export class Deliveries extends EndpointPart {
  /** Newest first, read page by page as the loop goes on. */
  list(options: DeliveryFilters & CallOptions = {}): AsyncIterable<DeliveryAttempt> {
    const { signal, ...filters } = options
    return itemsByIdOf((from) =>
      dataOf(
        this.transport.api.GET('/api/v1/endpoints/{endpointId}/deliveries', {
          params: {
            path: { endpointId: this.endpointId },
            query: { ...filters, ...from, pageSize: PAGE_SIZE },
          },
          ...(signal === undefined ? {} : { signal }),
        }),
      ),
    )
  }

  get(attemptId: number, options: CallOptions = {}): Promise<DeliveryAttemptDetail> {
    return dataOf(
      this.transport.api.GET('/api/v1/endpoints/{endpointId}/deliveries/{attemptId}', {
        params: { path: { endpointId: this.endpointId, attemptId } },
        ...signalOf(options),
      }),
    )
  }
}

/** Transformation rules, which change the message to a forward destination. */
export class Rules extends EndpointPart {
  /** In their order. */
  async list(options: CallOptions = {}): Promise<readonly RuleView[]> {
    const { rules } = await dataOf(
      this.transport.api.GET('/api/v1/endpoints/{endpointId}/transformations', {
        params: { path: { endpointId: this.endpointId } },
        ...signalOf(options),
      }),
    )
    return rules
  }

  /** Adds a rule; it runs last. Needs a forward action. */
  create(rule: RuleDocument, options: CallOptions = {}): Promise<RuleView> {
    return dataOf(
      this.transport.api.POST('/api/v1/endpoints/{endpointId}/transformations', {
        params: { path: { endpointId: this.endpointId } },
        body: rule,
        ...signalOf(options),
      }),
    )
  }

  async delete(ruleId: string, options: CallOptions = {}): Promise<void> {
    await dataOrNull(
      this.transport.api.DELETE('/api/v1/endpoints/{endpointId}/transformations/{ruleId}', {
        params: { path: { endpointId: this.endpointId, ruleId } },
        ...signalOf(options),
      }),
    )
  }
}
