import { isJsonNumber, membersOf, numberText } from '../engine/json/index.ts'
import {
  asRead,
  type EvaluatedRequest,
  headerText,
  parsedBody,
  urlEncodedPairs,
} from '../engine/message/index.ts'
import { inSlices } from '../platform/turns/index.ts'
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
/** Values that are looked at before other work of the process may run. */
const VALUES_OF_PIECE = 64
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
 * Runs in slices of the event loop's time, since bodies may have any number of members.
 *
 * @param rows newest first; an example is from the first row with the path
 * @returns at most {@link SHAPE_PATHS_MAX} paths, in the order in which they were found
 */
export function shapeOf(rows: readonly StoredRequestRow[]): Promise<ShapePath[]> {
  return inSlices(shapeInSteps(rows))
}

function* shapeInSteps(rows: readonly StoredRequestRow[]): Generator<void, ShapePath[]> {
  const seen = new Map<string, Seen>()
  for (const [index, row] of rows.entries()) {
    yield
    let count = 0
    for (const { path, type, example } of valuesIn(storedRequest(row))) {
      noteIn(seen, index, path, type, example)
      count += 1
      if (count % VALUES_OF_PIECE === 0) yield
    }
  }
  return [...seen].map(([path, { count, example, types }]) => ({
    path,
    types: [...types],
    share: count / rows.length,
    example,
  }))
}

/** A value of a request, where it is. */
interface Found {
  readonly path: string
  readonly type: ValueType
  readonly example: string
}

function* valuesIn(request: EvaluatedRequest): Generator<Found, void, undefined> {
  const body = parsedBody(asRead(request))
  if (body.kind !== 'none') yield* walk(body.value, 'body', 0)
  for (const [name, value] of urlEncodedPairs(request.queryString ?? '')) {
    yield { path: `query.${name}`, type: 'string', example: value }
  }
  for (const [name, value] of request.headers) {
    if (PLAIN_HEADERS.test(name)) continue
    yield { path: `headers.${name}`, type: 'string', example: headerText(value) }
  }
}

function noteIn(seen: Map<string, Seen>, index: number, path: string, type: ValueType, example: string) {
  // Before the look-up, which reads the whole path.
  if (path.length > PATH_CHARACTERS_MAX) return
  const known = seen.get(path)
  if (known !== undefined) {
    known.types.add(type)
    if (known.lastIn === index) return
    known.count += 1
    known.lastIn = index
    return
  }
  if (seen.size >= SHAPE_PATHS_MAX) return
  seen.set(path, { types: new Set([type]), example: shortened(example), count: 1, lastIn: index })
}

/** Shortens an example without cutting a character. */
function shortened(text: string): string {
  return text.length <= EXAMPLE_CHARACTERS
    ? text
    : [...text.slice(0, 2 * EXAMPLE_CHARACTERS)].slice(0, EXAMPLE_CHARACTERS).join('')
}

function* walk(value: unknown, path: string, depth: number): Generator<Found, void, undefined> {
  // Below a path that is too long, all are.
  if (depth > DEPTH_MAX || path.length > PATH_CHARACTERS_MAX) return
  if (Array.isArray(value)) {
    if (value.length === 0) yield { path, type: 'array', example: '[]' }
    for (const element of value.slice(0, ELEMENTS_LOOKED_AT)) yield* walk(element, `${path}[*]`, depth + 1)
    return
  }
  const members = membersOf(value)
  if (members !== undefined) {
    if (members.length === 0) yield { path, type: 'object', example: '{}' }
    for (const [name, member] of members) yield* walk(member, memberPath(path, name), depth + 1)
    return
  }
  if (value === null) yield { path, type: 'null', example: 'null' }
  else if (isJsonNumber(value)) yield { path, type: 'number', example: numberText(value) }
  else if (typeof value === 'boolean') yield { path, type: 'boolean', example: String(value) }
  else if (typeof value === 'string') yield { path, type: 'string', example: value }
}

const memberPath = (path: string, name: string) =>
  BARE_NAME.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`
