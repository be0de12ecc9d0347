import { MAX_JSON_DEPTH, type Node, nestsDeeper, parseForLooks } from '../../engine/json/index.ts'
import { storable } from '../../platform/db/index.ts'

/** Error codes of runs that ended early, with advice for each. */
export const RUN_ERRORS = {
  unauthorized: 'The sender refused the credentials.',
  forbidden: 'The credentials may not list or resend events.',
  not_found: 'The sender knows no such list.',
  unreachable: 'The sender could not be reached.',
  sender_failed: 'The sender answered with errors.',
  bad_answer: 'The sender answered something else than its list of events.',
  rate_limited: 'The sender asked for a longer wait than a run may take.',
  endpoint_closed: 'The endpoint takes no captures.',
  timed_out: 'The run took too long.',
  internal_error: 'The service failed; its log says more.',
} as const

export type RunErrorCode = keyof typeof RUN_ERRORS

/** Why a run, or one call of it, failed. `detail` holds no credentials. */
export interface Failure {
  readonly code: RunErrorCode
  readonly detail: string
}

/**
 * Result of a call to a sender. `wait`: its rate limit is exhausted, and nothing was done. `again`: a temporary
 * failure, and nothing was done. `unknown`: it may have been done. `failed`: a permanent failure.
 */
export type Answer<Value> =
  | { readonly outcome: 'ok'; readonly value: Value }
  | { readonly outcome: 'wait'; readonly milliseconds: number }
  | { readonly outcome: 'again' | 'unknown' | 'failed'; readonly failure: Failure }

export interface SentEvent {
  /** In the form in which captures store it. */
  readonly eventId: string
  readonly type: string
  /** When it happened, or was sent. */
  readonly at: Date
  readonly reference: string
}

/** A page of a sender's list, newest first. */
export interface SentPage {
  readonly events: readonly SentEvent[]
  /** Cursor of the next page; null if the period has none. */
  readonly next: string | null
}

/** A whole event as its sender stores it. */
export interface WholeEvent {
  readonly eventId: string
  readonly type: string
  /** JSON, letter by letter as the sender lists it. */
  readonly body: Uint8Array
}

/** The period and the types that a run looks at. */
export interface Scope {
  readonly since: Date
  readonly until: Date
  /** Empty for all. */
  readonly types: readonly string[]
}

export interface Lister {
  /** @param cursor null for the newest page */
  list(scope: Scope, cursor: string | null): Promise<Answer<SentPage>>
}

/** A sender that can be asked to send an event again. */
export interface Redelivering extends Lister {
  readonly brings: 'redelivery'
  /** Asks for one event, by its `reference`. */
  redeliver(reference: string): Promise<Answer<null>>
}

export interface Fetching extends Lister {
  readonly brings: 'fetch'
  /** Name for the note of captured events, such as `Stripe`. */
  readonly name: string
  /** The events of a page, by the `reference` of one of them. */
  fetchPage(scope: Scope, reference: string): Promise<Answer<readonly WholeEvent[]>>
}

export type ListingSender = Redelivering | Fetching

/** Longest type of an event that is read. */
const TYPE_CHARACTERS_MAX = 200

/** The type of an event, as it is stored; undefined if it is none. */
export const typeOf = (value: Node): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= TYPE_CHARACTERS_MAX
    ? storable(value)
    : undefined

/** The items of a list; undefined if it is none, or `read` does not understand one of them. */
export function itemsOf<Part, Item>(
  list: readonly Part[] | undefined,
  read: (item: Part) => Item | undefined,
): Item[] | undefined {
  if (list === undefined) return undefined
  const items: Item[] = []
  for (const part of list) {
    const item = read(part)
    if (item === undefined) return undefined
    items.push(item)
  }
  return items
}

/**
 * Parses a page to look up single values, of which nothing is stored. Undefined for text that is not JSON or nests too
 * deep.
 */
export function looksOf(text: string): Node {
  return nestsDeeper(text, MAX_JSON_DEPTH) ? undefined : parseForLooks(text)?.value
}
