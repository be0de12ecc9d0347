import { createHash } from 'node:crypto'
import { type Path, parsePath, requestRoot, someValue } from '../conditions/index.ts'
import { isJsonNumber, type Node, numberText } from '../json/index.ts'
import { type CapturedRequest, headerText, type WireHeader } from '../message/index.ts'
import { type EventIdPlace, nodeAt, type ProviderRow } from '../providers/index.ts'
import { Evidence } from './evidence.ts'

/** The longest event id that is kept as it came, in bytes of UTF-8. */
export const EVENT_ID_BYTES_MAX = 200

/** Stands in front of the digest that a longer id becomes. */
const HASH_MARK = 'sha256:'
const HASHED = /^sha256:[0-9a-f]{64}$/

/** Headers that are event ids whatever sends them, in this order; CloudEvents count an id within its source. */
const GENERIC_PLACES: readonly EventIdPlace[] = [
  { in: 'header', name: 'webhook-id' },
  { in: 'header', name: 'svix-id' },
  { in: 'header', name: 'x-github-delivery' },
  { in: 'header', name: 'x-shopify-event-id' },
  { in: 'header', name: 'i-twilio-idempotency-token' },
  { in: 'header', name: 'ce-id', within: { in: 'header', name: 'ce-source' } },
]
const GENERIC_HEADERS: ReadonlySet<string> = new Set(GENERIC_PLACES.map(({ name }) => name))
const GENERIC_HEADER_LENGTHS: ReadonlySet<number> = new Set(GENERIC_PLACES.map(({ name }) => name.length))

/** A CloudEvent as one JSON document. */
const STRUCTURED_PLACES: readonly EventIdPlace[] = [
  { in: 'body', name: 'id', within: { in: 'body', name: 'source' } },
]
const STRUCTURED_TYPE = /^application\/cloudevents\+json\s*(?:;|$)/i

/**
 * The sender's own id of the event that a capture brings: where the endpoint says, else where its provider puts it, else in
 * the usual places. Only texts and numbers are ids; what else a path meets reads as absent, and so does a text with control
 * characters. Never throws.
 *
 * @param path of the endpoint, as {@link eventIdPathOf} reads it; it alone counts then
 * @param provider of the endpoint; undefined: the usual places. A provider without a known place gives null
 * @returns at most {@link EVENT_ID_BYTES_MAX} bytes; of a longer id the digest, marked as one
 */
export function eventIdOf(
  path: Path | null,
  provider: ProviderRow | undefined,
  request: CapturedRequest,
): string | null {
  if (path !== null) return idText(valueAt(path, request))
  if (provider !== undefined) return provider.eventId ? firstId(provider.eventId.places, request) : null
  // Most captures have none of these headers, so they are looked at once, not once a name.
  const generic = request.headers.some(isGenericHeader) ? firstId(GENERIC_PLACES, request) : null
  if (generic !== null || !STRUCTURED_TYPE.test(request.contentType ?? '')) return generic
  return firstId(STRUCTURED_PLACES, request)
}

/**
 * The path to event ids that an endpoint has stored.
 *
 * @returns null for none, and for a text that is no such path
 */
export function eventIdPathOf(text: string | null): Path | null {
  const parsed = text === null ? undefined : parseEventIdPath(text)
  return parsed === undefined || 'problem' in parsed ? null : parsed.path
}

/** Reads a path to an event id: into the body, or to a header or a query parameter. */
export function parseEventIdPath(text: string): ReturnType<typeof parsePath> {
  const parsed = parsePath(text, { every: false, deliveryFacts: false })
  if ('problem' in parsed || parsed.path.root !== 'fact') return parsed
  const reason = `${JSON.stringify(text)} holds no event id: use body, headers.<name> or query.<name>.`
  return { problem: { code: 'bad_path', reason } }
}

/** An id as it is stored, for those who look for one: the digest of one that is too long to be kept. */
export function storedEventId(id: string): string {
  return Buffer.byteLength(id) > EVENT_ID_BYTES_MAX ? hashed(id) : id
}

/** Whether a text can stand in a row as an event id: no control characters, no half characters, not too long. */
export function isEventId(text: string): boolean {
  return isClean(text) && Buffer.byteLength(text) <= EVENT_ID_BYTES_MAX
}

function idText(value: Node): string | null {
  const text = isJsonNumber(value) ? numberText(value) : value
  if (typeof text !== 'string' || !isClean(text)) return null
  // One that looks like a digest of ours becomes one: no two ids are stored as the same text.
  return HASHED.test(text) ? hashed(text) : storedEventId(text)
}

/** A forward carries it in a header, which holds no control character. */
function isClean(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused.
  return text !== '' && !/[\x00-\x1f\x7f]/.test(text) && text.isWellFormed()
}

function hashed(text: string): string {
  return `${HASH_MARK}${createHash('sha256').update(text).digest('hex')}`
}

function firstId(places: readonly EventIdPlace[], request: CapturedRequest): string | null {
  const evidence = new Evidence(request, '')
  for (const place of places) {
    const id = idText(placedId(place, evidence))
    if (id !== null) return id
  }
  return null
}

function placedId({ within, ...place }: EventIdPlace, evidence: Evidence): Node {
  const id = fieldValue(place, evidence)
  if (within === undefined) return id
  const scope = fieldValue(within, evidence)
  const isWhole = typeof id === 'string' && id !== '' && typeof scope === 'string' && scope !== ''
  return isWhole ? `${scope} ${id}` : undefined
}

function fieldValue({ in: part, name }: Omit<EventIdPlace, 'within'>, evidence: Evidence): Node {
  if (part === 'body') return nodeAt(evidence.json(), name)
  const value = evidence.header(name)
  return value === undefined ? undefined : headerText(value)
}

/** The first value where a header or a query parameter is repeated. */
function valueAt(path: Path, request: CapturedRequest): Node {
  if (path.root === 'body' && path.segments.length === 0) return undefined
  let found: Node
  someValue(requestRoot({ ...request, label: null, eventId: null, verification: null }), path, (value) => {
    found = value
    return true
  })
  return found
}

function isGenericHeader([name]: WireHeader): boolean {
  return GENERIC_HEADER_LENGTHS.has(name.length) && GENERIC_HEADERS.has(name.toLowerCase())
}
