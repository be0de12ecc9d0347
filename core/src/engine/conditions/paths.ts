import { parseJson } from '../json/index.ts'

/** The most characters (code points) of a path. */
export const MAX_PATH_LENGTH = 200
export const MAX_PATH_SEGMENTS = 20

/**
 * One step into a body: a member's name, an element's index (negative from the end), every element, or one of `.0`,
 * `.-1` and `.*`, which mean elements in a list and a member's name in an object.
 */
export type Segment = string | number | typeof EVERY | Either
/** The segment `[*]`: every element of a list. */
export const EVERY = Symbol('[*]')

/** A step whose meaning depends on the value that it leads into. */
export interface Either {
  readonly name: string
  readonly element: number | typeof EVERY
}

/** The meaning of a segment in a list, or in anything else. */
export function segmentIn(segment: Segment, isList: boolean): string | number | typeof EVERY {
  if (typeof segment !== 'object') return segment
  return isList ? segment.element : segment.name
}

/** Facts of a request that are one value and take no segments. */
export const REQUEST_FACTS = [
  'method',
  'path',
  'label',
  'contentType',
  'ip',
  'sizeBytes',
  'verification.verdict',
] as const

/** Further facts. Messages and rule steps may read them, conditions may not. */
export const DELIVERY_FACTS = [
  'request.id',
  'request.url',
  'request.receivedAt',
  'endpoint.id',
  'endpoint.name',
  'action.id',
  'action.name',
] as const

export type RequestFact = (typeof REQUEST_FACTS)[number]
export type DeliveryFact = (typeof DELIVERY_FACTS)[number]

/** A parsed path, as conditions, rules and placeholders use it. */
export type Path =
  | { readonly root: 'body'; readonly segments: readonly Segment[]; readonly text: string }
  | { readonly root: 'headers' | 'query'; readonly name: string; readonly text: string }
  | { readonly root: 'fact'; readonly fact: RequestFact | DeliveryFact; readonly text: string }

export interface PathOptions {
  /** Whether `[*]` is allowed. It is in conditions, keep, remove and redact. */
  readonly every: boolean
  /** Whether the facts of a delivery may be read, too. */
  readonly deliveryFacts: boolean
}

/** The reason why a text is not a path; `reason` is a sentence that says what would be right. */
export interface PathProblem {
  readonly code: 'bad_path' | 'too_long'
  readonly reason: string
}

/** The name of a header (RFC 9110 §5.1). */
export const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const MEMBER = /\.([^.[\]"\s{}]+)/y
const INDEX = /\[(-?(?:0|[1-9][0-9]*))\]/y
const QUOTED = /\[("(?:[^"\\]|\\.)*")\]/y

/**
 * Reads a path by the grammar of docs/rules.md. Linear in the length of the text.
 *
 * @returns the path, or the reason why the text is not one
 */
export function parsePath(text: string, options: PathOptions): { path: Path } | { problem: PathProblem } {
  if (isTooLong(text)) {
    return { problem: { code: 'too_long', reason: `A path has at most ${MAX_PATH_LENGTH} characters.` } }
  }
  const fact = factOf(text, options)
  if (fact !== undefined) return { path: { root: 'fact', fact, text } }
  if (text.startsWith('headers.')) return headerPath(text)
  if (text.startsWith('query.')) {
    const name = text.slice('query.'.length)
    return name === ''
      ? bad(text, 'names no query parameter after "query."')
      : { path: { root: 'query', name, text } }
  }
  if (/^(?:headers|query)(?:$|\[)/.test(text)) {
    const root = text.startsWith('query') ? 'query' : 'headers'
    return bad(text, `must continue with a name: ${root}.<name>; ${root} take no index`)
  }
  if (/^body(?:$|[.[])/.test(text)) return bodyPath(text, options)
  return bad(text, `does not start with a known root (${rootsOf(options).join(', ')})`)
}

function isTooLong(text: string): boolean {
  const isMaybe = text.length > MAX_PATH_LENGTH && text.length <= 2 * MAX_PATH_LENGTH
  return isMaybe ? [...text].length > MAX_PATH_LENGTH : text.length > MAX_PATH_LENGTH
}

function factOf(text: string, options: PathOptions): RequestFact | DeliveryFact | undefined {
  const known = REQUEST_FACTS.find((fact) => fact === text)
  if (known !== undefined || !options.deliveryFacts) return known
  return DELIVERY_FACTS.find((fact) => fact === text)
}

function rootsOf(options: PathOptions): string[] {
  const roots = ['body', 'headers.<name>', 'query.<name>', ...REQUEST_FACTS]
  return options.deliveryFacts ? [...roots, ...DELIVERY_FACTS] : roots
}

function headerPath(text: string): { path: Path } | { problem: PathProblem } {
  const name = text.slice('headers.'.length)
  if (!HEADER_NAME.test(name))
    return bad(text, 'does not name a header: letters, digits and hyphens after "headers."')
  return { path: { root: 'headers', name, text } }
}

function bodyPath(text: string, options: PathOptions): { path: Path } | { problem: PathProblem } {
  const segments: Segment[] = []
  let at = 'body'.length
  while (at < text.length) {
    const read = segmentAt(text, at)
    if (read === undefined) {
      return bad(text, `is not valid from character ${at + 1}: use .name, ["odd name"], [0], [-1] or [*]`)
    }
    if (read.segment === EVERY && !options.every) {
      return bad(text, 'may not use [*] here: only conditions, keep, remove and redact take it')
    }
    segments.push(read.segment)
    at = read.end
  }
  if (segments.length > MAX_PATH_SEGMENTS) return bad(text, `has more than ${MAX_PATH_SEGMENTS} segments`)
  return { path: { root: 'body', segments, text } }
}

function segmentAt(text: string, at: number): { segment: Segment; end: number } | undefined {
  if (text.startsWith('[*]', at)) return { segment: EVERY, end: at + 3 }
  const member = match(MEMBER, text, at)
  if (member !== undefined) return { segment: dotted(member.inner), end: member.end }
  const index = match(INDEX, text, at)
  if (index !== undefined) {
    const number = Number(index.inner)
    return Number.isSafeInteger(number) && index.inner !== '-0'
      ? { segment: number, end: index.end }
      : undefined
  }
  const quoted = match(QUOTED, text, at)
  const name = quoted === undefined ? undefined : parseJson(quoted.inner)?.value
  return quoted !== undefined && typeof name === 'string' ? { segment: name, end: quoted.end } : undefined
}

function dotted(name: string): Segment {
  if (name === '*') return { name, element: EVERY }
  const isIndex = /^-?(?:0|[1-9]\d*)$/.test(name) && name !== '-0' && Number.isSafeInteger(Number(name))
  return isIndex ? { name, element: Number(name) } : name
}

function match(pattern: RegExp, text: string, at: number): { inner: string; end: number } | undefined {
  pattern.lastIndex = at
  const found = pattern.exec(text)
  return found?.[1] === undefined ? undefined : { inner: found[1], end: at + found[0].length }
}

function bad(text: string, what: string): { problem: PathProblem } {
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text
  return { problem: { code: 'bad_path', reason: `${JSON.stringify(shown)} ${what}.` } }
}
