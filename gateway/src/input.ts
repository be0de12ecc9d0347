import { DomainError, isPlainObject, type Locate, pointerTo, type RouteContract } from '@creel/core'
import { holdsMore, nestsDeeper, SentJson } from '@creel/core/engine/json'
import { countPiece } from '@creel/core/platform/memory'
import { slices } from '@creel/core/platform/turns'
import { z } from 'zod'

/** Limit of the API's JSON bodies. */
const MAX_BODY_BYTES = 1_048_576

/** The raw input of one call, not yet validated, and the source of each member. */
export interface RawInput {
  readonly value: Record<string, unknown>
  readonly rawBody: SentJson | null
  /** The unread body, for a route that takes another type than JSON. */
  readonly body: AsyncIterable<Uint8Array> | null
  readonly locate: Locate
}

/**
 * Members of an input that a header sets: `Last-Event-ID`, which an EventSource sends when it reconnects, and `Range`.
 */
const SET_BY_HEADER = { lastEventId: 'last-event-id', range: 'range' } as const

type Scalar = 'integer' | 'boolean' | 'string'

export interface InputReader {
  readonly path: (params: Readonly<Record<string, string>>) => Record<string, unknown>
  /** @throws DomainError `request_invalid` for a body that cannot be read */
  readonly all: (request: Request, params: Readonly<Record<string, string>>) => Promise<RawInput>
}

/** Prepares the reader of a route once, at start. */
export function inputReader(
  contract: Pick<RouteContract, 'method' | 'input' | 'query' | 'body' | 'media'>,
): InputReader {
  const typeOf = (name: string) => typesOfInputs.getOrInsertComputed(contract.input, scalarTypes)[name]
  const takes = contract.media?.takes
  const hasBody = contract.method !== 'GET' && contract.method !== 'DELETE' && takes === undefined
  const fromQuery = (name: string) => !hasBody || (contract.query ?? []).includes(name)

  const path: InputReader['path'] = (params) =>
    Object.fromEntries(
      Object.entries(params).map(([name, text]) => {
        const value = typed(text, typeOf(name))
        // An id has one spelling: `01` names nothing.
        return [name, String(value) === text ? value : text]
      }),
    )

  return {
    path,
    async all(request, params) {
      const query: Record<string, unknown> = {}
      for (const [name, text] of new URL(request.url).searchParams) {
        // The first value of a repeated parameter counts.
        const type = typeOf(name)
        if (type !== undefined && fromQuery(name) && !(name in query)) query[name] = typed(text, type)
      }
      for (const [member, header] of Object.entries(SET_BY_HEADER)) {
        const said = request.headers.get(header)
        if (typeOf(member) !== undefined && said !== null) query[member] = said
      }
      const body = hasBody ? await readBody(request) : null
      const members =
        body === null ? {} : contract.body === undefined ? body.value : { [contract.body]: body.value }
      return {
        value: { ...members, ...query, ...path(params) },
        rawBody: body === null ? null : new SentJson(body.text),
        body: takes === undefined ? null : bodyAsItComes(request, takes),
        locate: (at) => {
          const [first, ...rest] = at
          const isNamed = takes === undefined || (first !== undefined && typeOf(String(first)) !== undefined)
          // A member of the query that only the body has came from there. One that is missing is asked for in the query.
          const isOfBody =
            first !== undefined && Object.hasOwn(members, first) && !Object.hasOwn(query, first)
          if (first !== undefined && !(first in params) && !isOfBody && fromQuery(String(first)) && isNamed) {
            return { pointer: null, parameter: String(first) }
          }
          if (first !== undefined && first === contract.body)
            return { pointer: pointerTo(rest), parameter: null }
          return { pointer: pointerTo(at), parameter: null }
        },
      }
    },
  }
}

type ScalarTypes = Readonly<Record<string, Scalar | undefined>>

/** Cache by input schema, filled on a route's first call: all routes together would take a tenth of the start time. */
const typesOfInputs = new WeakMap<z.ZodObject, ScalarTypes>()

/**
 * The type of each member in the JSON Schema. Text of the path or query is converted to these types; other text stays
 * text.
 */
function scalarTypes(input: z.ZodObject): ScalarTypes {
  const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' })
  const types: Record<string, Scalar | undefined> = Object.create(null)
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    types[name] = scalarOf(property)
  }
  return types
}

function scalarOf(property: z.core.JSONSchema._JSONSchema): Scalar {
  if (typeof property === 'boolean') return 'string'
  // A list of types, one of them null.
  const types: readonly unknown[] = [property.type].flat()
  if (types.includes('integer')) return 'integer'
  if (types.includes('boolean')) return 'boolean'
  for (const member of property.anyOf ?? []) {
    const scalar = scalarOf(member)
    if (scalar !== 'string') return scalar
  }
  return 'string'
}

const INT64_MAX = 2n ** 63n - 1n

/** A number that no bound of an integer allows, in place of one with too many digits for an int64. */
const OUT_OF_RANGE = 2 ** 64

/** Converts text to its type. Text that does not fit stays text, and then fails validation under its own name. */
function typed(text: string, type: Scalar | undefined): unknown {
  if (type === 'integer' && /^-?\d+$/.test(text)) {
    // Beyond 2^53 an int64 loses digits, which is harmless: no id is as large.
    if (text.length <= 20 && BigInt(text) <= INT64_MAX) return Number(text)
    return text.startsWith('-') ? -OUT_OF_RANGE : OUT_OF_RANGE
  }
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

/** @throws DomainError `request_invalid` for a body of another media type */
function bodyAsItComes(request: Request, takes: string): AsyncIterable<Uint8Array> {
  if (mediaTypeOf(request) !== takes) {
    throw new DomainError('request_invalid', `The body must be sent as Content-Type: ${takes}.`)
  }
  return counted(request.body ?? new ReadableStream({ start: (controller) => controller.close() }), COPIES)
}

/**
 * Memory that a piece takes until it is stored, as a multiple of its size: lines, values, rows, and the message to the
 * database.
 */
const COPIES = 4

/** Counts the memory that each piece leaves behind: its size times `copies`. */
export async function* counted<Piece extends Uint8Array>(
  pieces: AsyncIterable<Piece>,
  copies: number,
): AsyncGenerator<Piece, void, undefined> {
  for await (const piece of pieces) {
    countPiece(piece.length * copies)
    yield piece
  }
}

/** The type of a body in lower case, without its parameters. */
export function mediaTypeOf(request: Pick<Request, 'headers'>): string {
  return (request.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

async function readBody(request: Request): Promise<{ text: string; value: Record<string, unknown> } | null> {
  const bytes = await boundedBytes(request)
  if (bytes.length === 0) return null
  const mediaType = mediaTypeOf(request)
  if (mediaType !== 'application/json' && !/^application\/[^/]+\+json$/.test(mediaType)) {
    throw new DomainError('request_invalid', 'The body must be sent as Content-Type: application/json.')
  }
  let text: string
  let value: unknown
  try {
    text = utf8.decode(bytes)
    refuseSlow(text)
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof DomainError) throw error
    throw new DomainError('request_invalid', 'The body is not valid JSON.')
  }
  if (!isPlainObject(value)) throw new DomainError('request_invalid', 'The body must be a JSON object.')
  return { text, value }
}

/** Far deeper than any document of the API. */
const JSON_DEPTH_MAX = 512
/** Far more than any document of the API has. A sample with more is sent as text. */
const NAMES_MAX = 20_000

/**
 * Refuses JSON that takes long to parse, which nothing can interrupt.
 *
 * @throws DomainError `request_invalid` for JSON that nests deeper than the API allows, or has more different names
 */
export function refuseSlow(json: string): void {
  if (nestsDeeper(json, JSON_DEPTH_MAX))
    throw new DomainError('request_invalid', `The JSON nests deeper than ${JSON_DEPTH_MAX} levels.`)
  if (
    json.length > SHORT_BODY_BYTES &&
    holdsMore(json, { values: Number.POSITIVE_INFINITY, names: NAMES_MAX })
  )
    throw new DomainError('request_invalid', `The JSON holds over ${NAMES_MAX} different names.`)
}

const TOO_LONG = 'The body is over 1 MiB.'

/** Parsing a body up to this size takes less than a millisecond. */
const SHORT_BODY_BYTES = 65_536

/**
 * Reads a body up to the size limit.
 *
 * @throws DomainError `request_invalid` when its length, announced or real, exceeds the limit
 */
async function boundedBytes(request: Request): Promise<Buffer<ArrayBuffer>> {
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) {
    throw new DomainError('request_invalid', TOO_LONG)
  }
  return await bytesOfBody(request.body, MAX_BODY_BYTES, TOO_LONG)
}

/**
 * Reads a body. In each turn of the event loop, one long body is returned: the caller parses it, and twenty together
 * would hold the loop for a second.
 *
 * @throws DomainError `request_invalid` with this detail for a body of more bytes
 */
export async function bytesOfBody(
  body: AsyncIterable<Uint8Array> | null,
  bytesMax: number,
  tooLong: string,
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    if (length > bytesMax) throw new DomainError('request_invalid', tooLong)
    chunks.push(chunk)
  }
  if (length > SHORT_BODY_BYTES) await slices.next()
  return Buffer.concat(chunks)
}

/**
 * Reads the body, within the limits of REST bodies. Returns the same request with that body, and the body as text.
 *
 * @throws DomainError `request_invalid` when it is too long, or takes long to parse
 */
export async function boundedRequest(
  request: Request,
): Promise<{ readonly bounded: Request; readonly text: string }> {
  const { method, url, headers, signal } = request
  const body = await boundedBytes(request)
  const text = new TextDecoder().decode(body)
  refuseSlow(text)
  return { bounded: new Request(url, { method, headers, signal, body }), text }
}
