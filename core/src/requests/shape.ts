import { isJsonNumber, membersOf, numberText } from '../engine/json/index.ts'
import { asRead, headerText, parsedBody, urlEncodedPairs } from '../engine/message/index.ts'
import { type StoredRequestRow, storedRequest } from './storedRequest.ts'

/** JSON types of values in captured requests. */
export const VALUE_TYPES = ['string', 'number', 'boolean', 'null', 'object', 'array'] as const

/** One of {@link VALUE_TYPES}. */
export type ValueType = (typeof VALUE_TYPES)[number]

/** A path that leads to values in captured requests. */
export interface ShapePath {
  /** In the notation of conditions and rules; `[*]` means every element of a list. */
  readonly path: string
  readonly types: ValueType[]
  /** Fraction of the requests that have it, from 0 to 1. */
  readonly share: number
  /** The newest value, as text. */
  readonly example: string
}

/** The most paths of a shape: senders that use ids as member names would fill any list. */
const SHAPE_PATHS_MAX = 500
const DEPTH_MAX = 16
const ELEMENTS_LOOKED_AT = 20
const EXAMPLE_CHARACTERS = 80
const PATH_CHARACTERS_MAX = 200
const BARE_NAME = /^[^.[\]"\s{}]+$/
/** Header fields that every sender has, which are left out. */
const PLAIN_HEADERS = /^(host|content-length|connection|accept.*|user-agent|creel-.*)$/i

interface Seen {
  readonly types: Set<ValueType>
  readonly example: string
  count: number
  lastIn: number
}

/**
 * Lists the paths of bodies, queries and headers in stored requests, each with its types, its share and an example.
 *
 * @param rows newest first; an example is from the first row with the path
 * @returns at most {@link SHAPE_PATHS_MAX} paths, in the order in which they were found
 */
export function shapeOf(rows: readonly StoredRequestRow[]): ShapePath[] {
  const seen = new Map<string, Seen>()
  for (const [index, row] of rows.entries()) {
    const note = (path: string, type: ValueType, example: string) => noteIn(seen, index, path, type, example)
    const request = storedRequest(row)
    const body = parsedBody(asRead(request))
    if (body.kind !== 'none') walk(body.value, 'body', 0, note)
    for (const [name, value] of urlEncodedPairs(request.queryString ?? '')) {
      note(`query.${name}`, 'string', value)
    }
    for (const [name, value] of request.headers) {
      if (!PLAIN_HEADERS.test(name)) note(`headers.${name}`, 'string', headerText(value))
    }
  }
  return [...seen].map(([path, { count, example, types }]) => ({
    path,
    types: [...types],
    share: count / rows.length,
    example,
  }))
}

type Note = (path: string, type: ValueType, example: string) => void

function noteIn(seen: Map<string, Seen>, index: number, path: string, type: ValueType, example: string) {
  const known = seen.get(path)
  if (known !== undefined) {
    known.types.add(type)
    if (known.lastIn === index) return
    known.count += 1
    known.lastIn = index
    return
  }
  if (seen.size >= SHAPE_PATHS_MAX || path.length > PATH_CHARACTERS_MAX) return
  seen.set(path, { types: new Set([type]), example: shortened(example), count: 1, lastIn: index })
}

/** Shortens an example without cutting a character. */
function shortened(text: string): string {
  return text.length <= EXAMPLE_CHARACTERS
    ? text
    : [...text.slice(0, 2 * EXAMPLE_CHARACTERS)].slice(0, EXAMPLE_CHARACTERS).join('')
}

function walk(value: unknown, path: string, depth: number, note: Note): void {
  if (depth > DEPTH_MAX) return
  if (Array.isArray(value)) {
    if (value.length === 0) note(path, 'array', '[]')
    for (const element of value.slice(0, ELEMENTS_LOOKED_AT)) walk(element, `${path}[*]`, depth + 1, note)
    return
  }
  const members = membersOf(value)
  if (members !== undefined) {
    if (members.length === 0) note(path, 'object', '{}')
    for (const [name, member] of members) walk(member, memberPath(path, name), depth + 1, note)
    return
  }
  if (value === null) note(path, 'null', 'null')
  else if (isJsonNumber(value)) note(path, 'number', numberText(value))
  else if (typeof value === 'boolean') note(path, 'boolean', String(value))
  else if (typeof value === 'string') note(path, 'string', value)
}

const memberPath = (path: string, name: string) =>
  BARE_NAME.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`
