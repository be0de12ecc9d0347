import type { EventKind } from './events.ts'

/** What an alert's words are made of. */
export interface Cause {
  readonly kind: EventKind
  readonly subjectName: string
  /** How many deliveries or captures it stands for. */
  readonly count: number
  /**
   * What the cause itself said: a dead letter's last error, a rule's or watchdog's own sentences, a notify
   * action's rendered message. Null when it had nothing to add.
   */
  readonly reason: string | null
}

const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`

const TITLES: { readonly [Kind in EventKind]: (name: string) => string } = {
  'delivery.parked': (name) => `Deliveries to ${name} are parked`,
  'delivery.recovered': (name) => `Deliveries to ${name} succeed again`,
  'transformation.disabled': (name) => `Rule ${name} was switched off`,
  'watchdog.alarmed': (name) => `Watchdog ${name} is alarmed`,
  'watchdog.recovered': (name) => `Watchdog ${name} recovered`,
  'capture.rejected': (name) => `Endpoint ${name} rejects captures`,
  'reconcile.gap': (name) => `Endpoint ${name} missed events`,
  'action.notify': (name) => name,
  'channel.test': (name) => `Test message for ${name}`,
}

const MESSAGES: { readonly [Kind in EventKind]: (cause: Cause) => string } = {
  'delivery.parked': ({ count, reason }) =>
    `${counted(count, 'delivery', 'deliveries')} ran out of retries${reason === null ? '' : `; last error ${reason}`}.`,
  'delivery.recovered': ({ count }) =>
    `A delivery succeeded. ${counted(count, 'delivery', 'deliveries')} ran out of retries meanwhile and can be replayed.`,
  'transformation.disabled': ({ reason }) => reason ?? 'It faulted on several deliveries in a row.',
  'watchdog.alarmed': ({ reason }) => reason ?? 'No matching capture arrived in time.',
  'watchdog.recovered': ({ reason }) => reason ?? 'A matching capture arrived again.',
  'capture.rejected': ({ count }) =>
    `${counted(count, 'capture was', 'captures were')} answered 429 because the endpoint is over its capture rate.`,
  'reconcile.gap': ({ count, reason }) =>
    reason ?? `${counted(count, 'event', 'events')} never came, though the sender lists them.`,
  'action.notify': ({ reason }) => reason ?? '',
  'channel.test': () => 'If you can read this, alerts reach this channel.',
}

/** The words of an alert, by kind and running count. Plain text; a notify action's message is its template's. */
export function wordsOf(cause: Cause): { title: string; message: string } {
  return { title: TITLES[cause.kind](cause.subjectName), message: MESSAGES[cause.kind](cause) }
}
