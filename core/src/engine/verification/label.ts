import { isLonger, isStorable } from '../issues.ts'
import { memberOf, membersOf } from '../json/index.ts'
import {
  asRead,
  type CapturedRequest,
  headerText,
  jsonBody,
  parsedBody,
  type WireHeader,
} from '../message/index.ts'
import { type EventTypePlace, nodeAt, type ProviderRow } from '../providers/index.ts'
import { percentDecoded } from './byteText.ts'
import { Evidence } from './evidence.ts'
import { unverifiedClaims } from './jwt.ts'

const LABEL_LENGTH_MAX = 200

/** Headers that are read for an endpoint without a provider, in this order; lower case. */
const GENERIC_HEADERS = ['x-github-event', 'x-event-type', 'ce-type', 'x-event-key', 'x-shopify-topic']
const GENERIC_MEMBERS = ['type', 'event', 'event_type']
const GENERIC_HEADER_LENGTHS: ReadonlySet<number> = new Set(GENERIC_HEADERS.map(({ length }) => length))

/**
 * The event type of a capture: where the endpoint's provider sends it, else in the usual places. Only texts of 1 to 200
 * characters are labels; an oversize trace has a label only if a header carries it. Never throws.
 *
 * @param provider of the endpoint; undefined: the generic order. A provider that sends no event type gives null
 */
export function labelOf(provider: ProviderRow | undefined, captured: CapturedRequest): string | null {
  const request = asRead(captured)
  if (provider === undefined) return genericLabel(request)
  const evidence = new Evidence(request, '')
  for (const place of provider.eventTypes) {
    const value = eventTypeAt(place, evidence)
    if (isLabel(value)) return value
  }
  return null
}

/** Paths that {@link labelOf} may read. */
export function labelReads(provider: ProviderRow | undefined): readonly string[] {
  if (provider === undefined)
    return [
      ...GENERIC_HEADERS.map((name) => `headers.${name}`),
      ...GENERIC_MEMBERS.map((name) => `body.${name}`),
    ]
  return provider.eventTypes.map((place) => {
    if (place.in === 'header') return `headers.${place.name}`
    return place.in === 'body' || place.in === 'form' ? `body.${place.name}` : 'body'
  })
}

function isLabel(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !isLonger(value, LABEL_LENGTH_MAX) && isStorable(value)
}

function genericLabel(request: CapturedRequest): string | null {
  // Most captures have none of these headers, so the headers are read once, not once a name.
  if (request.headers.some(isGenericHeader)) {
    const evidence = new Evidence(request, '')
    for (const name of GENERIC_HEADERS) {
      const value = headerLabel(evidence, name)
      if (isLabel(value)) return value
    }
  }
  const { kind, value } = parsedBody(request)
  if (kind === 'none') return null
  for (const name of GENERIC_MEMBERS) {
    const member = memberOf(value, name)
    if (isLabel(member)) return member
  }
  return null
}

function isGenericHeader([name]: WireHeader): boolean {
  return GENERIC_HEADER_LENGTHS.has(name.length) && GENERIC_HEADERS.includes(name.toLowerCase())
}

function headerLabel(evidence: Evidence, name: string): string | undefined {
  const value = evidence.header(name)
  return value === undefined ? undefined : headerText(value)
}

function eventTypeAt(place: EventTypePlace, evidence: Evidence): unknown {
  switch (place.in) {
    case 'header': {
      const label = headerLabel(evidence, place.name)
      return label !== undefined && place.percentEncoded === true ? percentDecoded(label) : label
    }
    case 'body':
      return nodeAt(evidence.json(), place.name)
    case 'form':
      return formValue(place, evidence)
    case 'body-key': {
      const names = membersOf(evidence.json())?.map(([name]) => name)
      return names?.find((name) => !place.except.includes(name))
    }
    case 'jwt': {
      const token = evidence.isParsable ? Buffer.from(evidence.body).toString('latin1').trim() : ''
      return textInJson(unverifiedClaims(token)?.[place.name], place.path)
    }
  }
}

function formValue(place: EventTypePlace & { in: 'form' }, evidence: Evidence): unknown {
  const value = evidence.fields().find(([name]) => name === place.name)?.[1]
  if (value === undefined) return undefined
  if (place.path !== undefined) return textInJson(value, place.path)
  return place.element === undefined ? value : elementText(value, place.element)
}

function textInJson(text: unknown, path: string): unknown {
  if (typeof text !== 'string') return undefined
  const body = new TextEncoder().encode(text)
  return nodeAt(jsonBody({ body, bodyTruncated: false, contentType: null }).value, path)
}

/** The text of an XML element in base64 (Braintree): enough for a label, without an XML parser. */
function elementText(base64: string, element: string): string | undefined {
  const xml = Buffer.from(base64, 'base64').toString('utf8')
  const start = xml.indexOf(`<${element}>`)
  const from = start + element.length + 2
  const end = start < 0 ? -1 : xml.indexOf('<', from)
  return end < 0 ? undefined : xml.slice(from, end)
}
