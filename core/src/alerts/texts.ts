import type { EventKind } from './events.ts'

/** Input of an alert's texts. */
export interface Cause {
  readonly kind: EventKind
  readonly subjectName: string
  /** Number of deliveries or captures behind it. */
  readonly count: number
  /**
   * Text about the cause: a dead letter's last error, sentences about a rule or watchdog, a notify action's rendered
   * message. Null for none.
   */
  readonly reason: string | null
}

const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`

const TITLES: { readonly [Kind in EventKind]: (name: string) => string } = {
  'delivery.parked': (name) => `Deliveries to ${name} are dead letters`,
  'delivery.recovered': (name) => `Deliveries to ${name} succeed again`,
  'delivery.failing': (name) => `Deliveries to ${name} fail`,
  'delivery.working': (name) => `Deliveries to ${name} work again`,
  'action.paused': (name) => `Action ${name} is paused`,
  'certificate.expiring': (name) => `A certificate of ${name} expires`,
  'certificate.renewed': (name) => `The certificate of ${name} was renewed`,
  'delivery.held': (name) => `Ordered deliveries to ${name} are held`,
  'delivery.released': (name) => `Ordered deliveries to ${name} continue`,
  'delivery.backlog': (name) => `The delivery backlog of ${name} is too old`,
  'delivery.drained': (name) => `The delivery backlog of ${name} has recovered`,
  'breaker.opened': (name) => `The circuit breaker of ${name} is open`,
  'breaker.closed': (name) => `The circuit breaker of ${name} is closed`,
  'answer.unavailable': (name) => `Senders of ${name} get the fallback answer`,
  'answer.available': (name) => `Senders of ${name} get the receiver’s answer again`,
  'transformation.disabled': (name) => `Rule ${name} was switched off`,
  'watchdog.alarmed': (name) => `Watchdog ${name} is alarmed`,
  'watchdog.recovered': (name) => `Watchdog ${name} recovered`,
  'capture.rejected': (name) => `Endpoint ${name} rejects captures`,
  'redaction.failed': (name) => `Endpoint ${name} could not redact a capture`,
  'reconcile.gap': (name) => `Endpoint ${name} missed events`,
  'action.notify': (name) => name,
  'channel.test': (name) => `Test message for ${name}`,
}

const MESSAGES: { readonly [Kind in EventKind]: (cause: Cause) => string } = {
  'delivery.parked': ({ count, reason }) =>
    `${counted(count, 'delivery', 'deliveries')} ran out of retries${reason === null ? '' : `; last error ${reason}`}.`,
  'delivery.recovered': ({ count }) =>
    `A delivery succeeded. ${counted(count, 'delivery', 'deliveries')} ran out of retries before and can be replayed.`,
  'delivery.failing': ({ count, reason }) =>
    `${counted(count, 'attempt', 'attempts')} failed${reason === null ? '.' : `. ${reason}`} Retries go on.`,
  'delivery.working': () => 'An attempt succeeded.',
  'action.paused': ({ reason }) => reason ?? 'Deliveries of this action wait until it is resumed.',
  'certificate.expiring': ({ reason }) => reason ?? 'A certificate ends within 14 days.',
  'certificate.renewed': ({ reason }) => reason ?? 'Its certificates last for more than 14 days.',
  'delivery.held': ({ count, reason }) =>
    `${counted(count, 'dead letter stops', 'dead letters stop')} the deliveries of ${count === 1 ? 'its key' : 'their keys'}${reason === null ? '' : `: ${reason}`}. Replay or skip them to continue.`,
  'delivery.released': () => 'No key is held any more.',
  'delivery.backlog': ({ reason }) =>
    reason ?? 'The oldest delivery has waited longer than the action allows.',
  'delivery.drained': () => 'The oldest delivery has waited no longer than the action allows.',
  'breaker.opened': ({ reason }) =>
    `Too many attempts failed${reason === null ? '' : `; last error ${reason}`}. Only probes are sent until one succeeds.`,
  'breaker.closed': () => 'An attempt succeeded. Waiting deliveries are sent, a few at first.',
  'answer.unavailable': ({ reason }) =>
    reason ?? 'The action that answers the senders is gone or switched off.',
  'answer.available': () => 'The action answers the senders again.',
  'transformation.disabled': ({ reason }) => reason ?? 'The rule failed on several deliveries in a row.',
  'watchdog.alarmed': ({ reason }) => reason ?? 'No matching capture arrived in time.',
  'watchdog.recovered': ({ reason }) => reason ?? 'A matching capture arrived again.',
  'capture.rejected': ({ count }) =>
    `${counted(count, 'capture was', 'captures were')} answered 429 because the endpoint is over its capture rate.`,
  'redaction.failed': ({ reason }) =>
    `Only a trace was stored, and nothing was delivered${reason === null ? '' : `: ${reason}`}.`,
  'reconcile.gap': ({ count, reason }) =>
    reason ?? `${counted(count, 'event', 'events')} of the sender's list were not captured.`,
  'action.notify': ({ reason }) => reason ?? '',
  'channel.test': () => 'If you can read this, alerts reach this channel.',
}

/** The texts of an alert, by kind and running count. Plain text, except for a notify action's message. */
export function wordsOf(cause: Cause): { title: string; message: string } {
  return { title: TITLES[cause.kind](cause.subjectName), message: MESSAGES[cause.kind](cause) }
}
