import { CreelError } from './error.ts'
import type { Link } from './resumed.ts'
import type { ServerEvent } from './sse.ts'
import { EVENT_MEMBERS, type StreamEvents } from './streams.ts'
import type { CapturedRequestSummary } from './types.ts'

/** An event as its data and its name in one object; `lastId` is the id that a later stream resumes after. */
type Flat<Event> = Event extends { readonly event: infer Name; readonly data: infer Data }
  ? { readonly type: Name; readonly lastId: number } & Readonly<Data>
  : never

type Sent = Flat<StreamEvents['requests_follow']>

/**
 * Event of an endpoint's live stream, told apart by `type`:
 *
 * - `arrived`: captured requests, oldest first. With `whole` or `listener` each is a {@link WholeRequest}.
 * - `passed`: with filters, the number of captures that do not match.
 * - `changed`: deliveries of earlier captures progressed.
 * - `behind`: too many captures arrived. Read those above the id of the last request by pages; the stream itself goes on.
 *   With `newest` it brings the newest.
 * - `replay`: with `listener`, a request to send a capture again.
 *
 * `lastId` is the id that a later stream resumes after.
 */
export type StreamEvent<Captured = CapturedRequestSummary> =
  | { readonly type: 'arrived'; readonly requests: readonly Captured[]; readonly lastId: number }
  | (Extract<Sent, { type: 'replay' }> & {
      /** @deprecated `replayId` as text. */
      readonly deliveryId: string
    })
  | Exclude<Sent, { type: 'arrived' | 'captured' | 'replay' }>

/**
 * Event of a feed: the events of the stream, of which none is missed, so that there is no `behind`, and the states of its connection.
 */
export type FeedEvent<Captured = CapturedRequestSummary> =
  | Exclude<StreamEvent<Captured>, { type: 'behind' }>
  | Link

/**
 * Decodes an event of the service.
 *
 * @param lastId the id that the stream has reached; the event's own can only be higher
 * @returns null for an event that only a newer service knows
 * @throws CreelError `unexpected_answer` when a known event lacks a member or is not JSON
 */
export function eventOf(sent: ServerEvent, lastId: number): StreamEvent | null {
  if (!isKnown('requests_follow', sent)) return null
  const event = { ...dataOf(sent), type: sent.event, lastId: Math.max(lastId, Number(sent.id) || 0) }
  if (!isSent(event)) throw unreadable(sent)
  if ('requests' in event && event.requests?.every(hasId) === false) throw unreadable(sent)
  // Captures have one name here, in whatever mode the service sends them.
  if (event.type === 'captured') return { ...event, type: 'arrived' }
  if (event.type === 'replay') return { ...event, deliveryId: String(event.replayId) }
  return event
}

/** Decodes an event of any stream; null and errors as in {@link eventOf}. */
export function sentEvent<Id extends keyof StreamEvents>(id: Id, sent: ServerEvent): StreamEvents[Id] | null {
  if (!isKnown(id, sent)) return null
  const event = { ...sent, data: dataOf(sent) }
  if (!isEvent(id, event)) throw unreadable(sent)
  return event
}

const isKnown = (id: keyof StreamEvents, { event }: ServerEvent) => Object.hasOwn(EVENT_MEMBERS[id], event)

const isSent = (event: { readonly type: string }): event is Sent => fits('requests_follow', event.type, event)

const hasId = (request: { readonly id: number } | null) => typeof request?.id === 'number'

const isEvent = <Id extends keyof StreamEvents>(
  id: Id,
  sent: { readonly event: string; readonly data: object },
): sent is typeof sent & StreamEvents[Id] => fits(id, sent.event, sent.data)

/** Whether data has the members of an event, with their types. */
function fits(id: keyof StreamEvents, name: string, data: object): boolean {
  const events: Readonly<Record<string, Readonly<Record<string, string>>>> = EVENT_MEMBERS[id]
  const members: Readonly<Record<string, unknown>> = { ...data }
  return Object.entries(events[name] ?? {}).every(([member, type]) => {
    const value = members[member]
    return type === (Array.isArray(value) ? 'array' : typeof value)
  })
}

function dataOf(sent: ServerEvent): object {
  let data: unknown
  try {
    data = JSON.parse(sent.data)
  } catch (error) {
    throw unreadable(sent, error)
  }
  if (typeof data !== 'object' || data === null) throw unreadable(sent)
  return data
}

function unreadable({ event }: ServerEvent, cause?: unknown): CreelError {
  const detail = `The stream's event \`${event}\` is not what this version of the client knows.`
  return new CreelError({ code: 'unexpected_answer', status: 200, detail }, { cause })
}
