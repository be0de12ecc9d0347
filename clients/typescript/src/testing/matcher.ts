import type { CapturedRequest } from '../types.ts'

/** A request that a hook got, as it was captured. */
export type HookRequest = CapturedRequest & {
  /**
   * The body as JSON, decoded if it arrived compressed: `request.json<Order>().id`. The type is not checked.
   *
   * @throws Error when the body is no JSON
   */
  json<Body = unknown>(): Body
}

/** `json` is hidden from what compares or prints the members. */
export function hookRequest(captured: CapturedRequest): HookRequest {
  const json = () => {
    try {
      return JSON.parse(readBody(captured) ?? '')
    } catch {
      throw new Error(`The body is no JSON: ${summary(captured)}`)
    }
  }
  return Object.defineProperty({ ...captured, json }, 'json', { enumerable: false })
}

/** JSON pattern. Only the named members are compared, at any depth; a list must match as a whole. */
export type JsonPattern =
  | string
  | number
  | boolean
  | null
  | RegExp
  | readonly JsonPattern[]
  | { readonly [member: string]: JsonPattern }

/** Conditions on a request. All given members must hold. */
export interface Matcher {
  /** Without case. */
  readonly method?: string
  /** Follows the capture URL, such as `/orders`. */
  readonly path?: string | RegExp
  /** The event type. */
  readonly label?: string | RegExp
  /** The sender's own id of the event. */
  readonly eventId?: string | RegExp
  /** By name, without case; repeated headers are joined with `, `. */
  readonly headers?: Readonly<Record<string, string | RegExp>>
  /** The first value of each parameter. */
  readonly query?: Readonly<Record<string, string | RegExp>>
  /**
   * A text is compared whole, an expression is searched for, an object or a list is compared with the body's JSON. A
   * compressed body is compared decoded.
   */
  readonly body?: JsonPattern
  /** Any other condition; named `where` in failures. */
  readonly where?: (request: HookRequest) => boolean
}

/** How a request differs from a matcher, each difference in one line; empty when it matches. */
export function differences(matcher: Matcher, request: HookRequest): readonly string[] {
  const found: string[] = []
  const compare = (what: string, wanted: string | RegExp | undefined, got: string | null | undefined) => {
    if (wanted !== undefined && !textMatches(wanted, got)) found.push(difference(what, wanted, got))
  }
  compare('method', matcher.method?.toUpperCase(), request.method.toUpperCase())
  compare('path', matcher.path, request.path)
  compare('label', matcher.label, request.label)
  compare('eventId', matcher.eventId, request.eventId)
  const headers = new Map(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]))
  for (const [name, wanted] of Object.entries(matcher.headers ?? {})) {
    compare(`headers.${name}`, wanted, headers.get(name.toLowerCase()))
  }
  for (const [name, wanted] of Object.entries(matcher.query ?? {})) {
    compare(`query.${name}`, wanted, request.query[name]?.[0])
  }
  if (matcher.body !== undefined) found.push(...bodyDifferences(matcher.body, readBody(request)))
  if (matcher.where !== undefined && !matcher.where(request)) found.push('where: does not hold')
  return found
}

/** The body as it is read: decoded, if it arrived encoded as text. Older services do not decode. */
const readBody = ({ body, decodedBody }: CapturedRequest) => decodedBody?.text ?? body

function bodyDifferences(wanted: JsonPattern, body: string | null): string[] {
  if (typeof wanted === 'string' || wanted instanceof RegExp) {
    return textMatches(wanted, body) ? [] : [difference('body', wanted, body)]
  }
  try {
    return jsonDifferences('body', wanted, JSON.parse(body ?? ''))
  } catch {
    return [`body: expected JSON, got ${shown(body)}`]
  }
}

function jsonDifferences(path: string, wanted: JsonPattern, got: unknown): string[] {
  if (wanted instanceof RegExp) {
    return typeof got === 'string' && textMatches(wanted, got) ? [] : [difference(path, wanted, got)]
  }
  if (Array.isArray(wanted)) {
    if (!Array.isArray(got)) return [difference(path, wanted, got)]
    if (got.length !== wanted.length) return [`${path}: expected ${wanted.length} items, got ${got.length}`]
    return wanted.flatMap((item, at) => jsonDifferences(`${path}[${at}]`, item, got[at]))
  }
  if (typeof wanted === 'object' && wanted !== null) {
    if (typeof got !== 'object' || got === null || Array.isArray(got)) return [difference(path, wanted, got)]
    const members = new Map(Object.entries(got))
    return Object.entries(wanted).flatMap(([name, value]) =>
      jsonDifferences(`${path}.${name}`, value, members.get(name)),
    )
  }
  return wanted === got ? [] : [difference(path, wanted, got)]
}

function textMatches(wanted: string | RegExp, got: string | null | undefined): boolean {
  if (got === null || got === undefined) return false
  return typeof wanted === 'string' ? wanted === got : new RegExp(wanted).test(got)
}

function difference(what: string, wanted: JsonPattern, got: unknown): string {
  return `${what}: expected ${shown(wanted)}, got ${got === undefined ? 'nothing' : shown(got)}`
}

const SHOWN_CHARACTERS = 120

function shown(value: unknown): string {
  const text = value instanceof RegExp ? String(value) : JSON.stringify(value, patternsAsText)
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text
}

const patternsAsText = (_name: string, value: unknown) => (value instanceof RegExp ? String(value) : value)

/** The matcher in one line, for failures. */
export function described(matcher: Matcher): string {
  const parts = Object.entries(matcher)
    .filter(([, wanted]) => wanted !== undefined)
    .map(([name, wanted]) => (typeof wanted === 'function' ? name : `${name} ${shown(wanted)}`))
  return parts.length === 0 ? 'anything' : parts.join(', ')
}

/** A request in one line, for failures. */
export function summary(request: CapturedRequest): string {
  const label = request.label === null ? '' : ` (${request.label})`
  return `#${request.id} ${request.method} ${request.path === '' ? '/' : request.path}${label} ${shown(readBody(request))}`
}
