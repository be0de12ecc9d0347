import { createHash } from 'node:crypto'
import { type Path, parsePath, requestRoot, someValue } from '../conditions/index.ts'
import { isJsonNumber, type Node, numberText } from '../json/index.ts'
import { asRead, ByHeaderName, type CapturedRequest, headerText } from '../message/index.ts'
import { type EventIdPlace, nodeAt, type ProviderRow } from '../providers/index.ts'
import { percentDecoded } from './byteText.ts'
import { Evidence } from './evidence.ts'

/** The longest event id that is kept unchanged, in bytes of UTF-8. */
const EVENT_ID_BYTES_MAX = 200

/** Prefix of the digest that replaces a longer id. */
const HASH_MARK = 'sha256:'
const HASHED = /^sha256:[0-9a-f]{64}$/

/** Headers that carry event ids from any sender, in this order. The id of a CloudEvent is unique within its source. */
const GENERIC_PLACES: readonly EventIdPlace[] = [
  { in: 'header', name: 'webhook-id' },
  { in: 'header', name: 'svix-id' },
  { in: 'header', name: 'x-github-delivery' },
  { in: 'header', name: 'x-shopify-event-id' },
  { in: 'header', name: 'i-twilio-idempotency-token' },
  {
    in: 'header',
    name: 'ce-id',
    percentEncoded: true,
    within: { in: 'header', name: 'ce-source', percentEncoded: true },
  },
]
const GENERIC_HEADERS = new ByHeaderName(GENERIC_PLACES.map(({ name }) => [name, name]))

/** A CloudEvent as one JSON document. */
const STRUCTURED_PLACES: readonly EventIdPlace[] = [
  { in: 'body', name: 'id', within: { in: 'body', name: 'source' } },
]
const STRUCTURED_TYPE = /^application\/cloudevents\+json\s*(?:;|$)/i

/**
 * The sender's own id of a captured event: at the endpoint's path, else where its provider puts it, else in the usual
 * places. Only texts and numbers are ids; any other value, and a text with control characters, reads as absent. Never
 * throws.
 *
 * @param path of the endpoint, as {@link eventIdPathOf} reads it; if set, no other place is read
 * @param provider of the endpoint; undefined: the usual places. A provider without a known place gives null
 * @returns at most {@link EVENT_ID_BYTES_MAX} bytes; a longer id is replaced by its digest with a prefix
 */
export function eventIdOf(
  path: Path | null,
  provider: ProviderRow | undefined,
  captured: CapturedRequest,
): string | null {
  const request = asRead(captured)
  if (path !== null) return idText(valueAt(path, request))
  if (provider !== undefined) return provider.eventId ? firstId(provider.eventId.places, request) : null
  // Most captures have none of these headers, so the headers are read once, not once a name.
  const isGeneric = request.headers.some(([name]) => GENERIC_HEADERS.get(name) !== undefined)
  const generic = isGeneric ? firstId(GENERIC_PLACES, request) : null
  if (generic !== null || !STRUCTURED_TYPE.test(request.contentType ?? '')) return generic
  return firstId(STRUCTURED_PLACES, request)
}

/** Paths that {@link eventIdOf} may read. */
export function eventIdReads(path: Path | null, provider: ProviderRow | undefined): readonly string[] {
  if (path !== null) return [path.text]
  const usual = [...GENERIC_PLACES, ...STRUCTURED_PLACES]
  const places = provider === undefined ? usual : (provider.eventId?.places ?? [])
  return places
    .flatMap(({ within, ...place }) => (within === undefined ? [place] : [place, within]))
    .map(({ in: part, name }) => `${part === 'header' ? 'headers' : part}.${name}`)
}

/**
 * The path to event ids that an endpoint has stored.
 *
 * @returns null for none, and for a text that is not such a path
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

/** An id as it is stored, for searches: the digest if the id is too long to be kept. */
export function storedEventId(id: string): string {
  return Buffer.byteLength(id) > EVENT_ID_BYTES_MAX ? hashed(id) : id
}

/** Whether a text can be stored as an event id: no control characters, no lone surrogates, not too long. */
export function isEventId(text: string): boolean {
  return isClean(text) && Buffer.byteLength(text) <= EVENT_ID_BYTES_MAX
}

function idText(value: Node): string | null {
  const text = isJsonNumber(value) ? numberText(value) : value
  if (typeof text !== 'string' || !isClean(text)) return null
  // An id that looks like our digest is hashed, so that no two ids are stored as the same text.
  return HASHED.test(text) ? hashed(text) : storedEventId(text)
}

/** Whether a forward can carry the id in a header: no control characters. */
function isClean(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are refused.
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

function fieldValue(
  { in: part, name, percentEncoded }: Omit<EventIdPlace, 'within'>,
  evidence: Evidence,
): Node {
  if (part === 'body') return nodeAt(evidence.json(), name)
  const value = evidence.header(name)
  if (value === undefined) return undefined
  return percentEncoded === true ? percentDecoded(headerText(value)) : headerText(value)
}

/** The value at a path; the first one if a header or a query parameter is repeated. */
export function valueAt(path: Path, request: CapturedRequest): Node {
  if (path.root === 'body' && path.segments.length === 0) return undefined
  let found: Node
  someValue(requestRoot({ ...request, label: null, eventId: null, verification: null }), path, (value) => {
    found = value
    return true
  })
  return found
}
