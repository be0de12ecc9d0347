import { REFUSED, type Route, type Stream, scopeOf } from '@creel/core'
import { z } from 'zod'
import { problemResponses } from './problems.ts'
import {
  admitsNull,
  createSchemas,
  defined,
  isObject,
  type Json,
  type JsonObject,
  type Schemas,
  withoutNull,
} from './schemas.ts'

/** The tag of a route: the noun's folder in core. */
export function tagOf(route: Route | Stream): string {
  return route.name.split('.')[0] ?? route.name
}

export function operation(route: Route, schemas: Schemas): JsonObject {
  const input = inputOf(route, schemas)
  return defined({
    operationId: route.name.replaceAll('.', '_'),
    tags: [tagOf(route)],
    summary: route.summary,
    description: descriptionOf(route),
    parameters: [
      ...input.pathNames.map((name) => parameter('path', name, input)),
      ...input.queryNames.map((name) => parameter('query', name, input)),
    ],
    requestBody:
      route.media?.takes !== undefined
        ? rawBody(route.media.takes)
        : input.bodyNames.length === 0
          ? undefined
          : requestBody(route, input),
    responses: { ...answers(route, schemas), ...problemResponses(route) },
  })
}

/**
 * The operation of a stream. Each of its events matches a named schema. OpenAPI 3.1 describes streams as text only, so
 * the text's `contentSchema` is the list of events. `x-events` has their data by name.
 */
export function streamOperation(stream: Stream, schemas: Schemas): JsonObject {
  const input = inputOf(stream, schemas)
  const events = Object.entries(stream.events).map(([kind, schema]) => [kind, schemas.of(schema, 'output')])
  return defined({
    operationId: stream.name.replaceAll('.', '_'),
    tags: [tagOf(stream)],
    summary: stream.summary,
    description: descriptionOf(stream),
    parameters: [
      ...input.pathNames.map((name) => parameter('path', name, input)),
      LAST_EVENT_ID,
      ...input.queryNames.map((name) => parameter('query', name, input)),
    ],
    responses: {
      200: {
        description: 'Events, until either side ends the stream; a comment after 15 s of silence',
        content: {
          'text/event-stream': {
            schema: {
              type: 'string',
              description: 'Server-sent events: `id`, `event` and `data` (JSON)',
              contentMediaType: 'text/event-stream',
              contentSchema: { type: 'array', items: schemas.of(eventSchema(stream), 'output') },
            },
            'x-events': Object.fromEntries(events),
          },
        },
      },
      ...problemResponses(stream),
    },
  })
}

/** Schema of the events of a stream: `RequestsFollowEvent` of `requests.follow`. */
function eventSchema({ name, summary, events }: Stream): z.ZodType {
  const id = `${name.replace(/(?:^|\.)(.)/g, (_, first: string) => first.toUpperCase())}Event`
  const [first, ...others] = Object.entries(events).map(([kind, data]) =>
    z.object({
      id: z.string().describe('For `Last-Event-ID`: the stream continues after it'),
      event: z.literal(kind),
      data,
    }),
  )
  if (first === undefined) throw new Error(`${name} declares no events.`)
  return z.discriminatedUnion('event', [first, ...others]).meta({ id, description: `${summary}: one event` })
}

/** The route's own description, and the scope that a key needs. */
function descriptionOf(route: Route | Stream): string {
  const scope = `Needs a key with the scope \`${scopeOf(route)}\`.`
  return route.description === undefined ? scope : `${route.description}\n\n${scope}`
}

const LAST_EVENT_ID: JsonObject = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'Id of the last event that was received: the stream continues after it',
  schema: { type: 'string' },
}

/** The members of a route's input, by their place in the request. */
interface Input {
  readonly properties: Readonly<Record<string, JsonObject>>
  readonly required: readonly string[]
  readonly pathNames: readonly string[]
  readonly queryNames: readonly string[]
  readonly bodyNames: readonly string[]
}

function inputOf(route: Pick<Route, 'method' | 'path' | 'input' | 'query'>, schemas: Schemas): Input {
  const schema = schemas.of(route.input, 'input')
  const properties = Object.fromEntries(
    Object.entries(isObject(schema.properties) ? schema.properties : {}).flatMap(([name, property]) => {
      if (!isObject(property)) return [[name, {}]]
      return property[REFUSED] === true ? [] : [[name, property]]
    }),
  )
  const pathNames = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
  const hasBody = route.method !== 'GET' && route.method !== 'DELETE'
  const others = Object.keys(properties).filter((name) => !pathNames.includes(name))
  const queryNames = others.filter((name) => !hasBody || (route.query ?? []).includes(name))
  return {
    properties,
    required: Array.isArray(schema.required) ? schema.required.map(String) : [],
    pathNames,
    queryNames,
    bodyNames: others.filter((name) => !queryNames.includes(name)),
  }
}

/**
 * The members of a route's input, each with its JSON Schema, for clients that do not read the description. A part that
 * the description refers to by name keeps only its type and its name: its grammar may be longer than everything else.
 */
export function inputProperties(route: Route): Pick<Input, 'properties' | 'required'> {
  const schemas = createSchemas()
  const { properties, required } = inputOf(route, schemas)
  const alone = (schema: JsonObject): JsonObject => {
    const { $ref, ...rest } = withoutNull(schema)
    if (typeof $ref !== 'string') return rest
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    const named = schemas.components[name]
    return defined({ type: (isObject(named) ? named.type : undefined) ?? 'object', title: name, ...rest })
  }
  return {
    properties: Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, alone(schema)])),
    required,
  }
}

function parameter(place: 'path' | 'query', name: string, input: Input): JsonObject {
  const { description, deprecated, ...schema } = withoutNull(input.properties[name] ?? {})
  return defined({
    name,
    in: place,
    required: place === 'path' || input.required.includes(name),
    description,
    deprecated,
    schema,
  })
}

function requestBody(route: Route, { properties, required, bodyNames }: Input): JsonObject {
  const whole = route.body === undefined ? undefined : properties[route.body]
  const requiredInBody = required.filter((name) => bodyNames.includes(name))
  const schema = whole ?? {
    type: 'object',
    properties: Object.fromEntries(bodyNames.map((name) => [name, properties[name] ?? {}])),
    ...(requiredInBody.length === 0 ? {} : { required: requiredInBody }),
  }
  const example = exampleOf(route)
  return {
    required: whole !== undefined || requiredInBody.length > 0,
    content: { 'application/json': defined({ schema, example }) },
  }
}

function exampleOf({ example, body }: Route): Json | undefined {
  if (example === undefined) return undefined
  const given = z.record(z.string(), z.json()).parse(example)
  return body === undefined ? given : given[body]
}

function rawBody(mediaType: string): JsonObject {
  return { required: true, content: { [mediaType]: { schema: { type: 'string' } } } }
}

function answerContent(route: Route, output: JsonObject): JsonObject {
  const { gives } = route.media ?? {}
  if (gives === undefined)
    return { [route.contentType ?? 'application/json']: { schema: withoutNull(output) } }
  const typeOf = (mediaType: string) => (mediaType === 'application/json' ? 'object' : 'string')
  return Object.fromEntries(gives.map((mediaType) => [mediaType, { schema: { type: typeOf(mediaType) } }]))
}

/** The answers of a route that sends its content whole, or a part of it. */
function partAnswers(route: Route, output: JsonObject): JsonObject {
  const content = answerContent(route, output)
  const partHeaders = { ...RANGE_HEADERS, 'Content-Range': CONTENT_RANGE }
  return {
    200: { description: PHRASES[200], headers: RANGE_HEADERS, content },
    206: { description: 'The part that `Range` asks for', headers: partHeaders, content },
  }
}

const RANGE_HEADERS = { 'Accept-Ranges': { description: 'Always `bytes`', schema: { type: 'string' } } }

const CONTENT_RANGE = {
  description: 'Octets of the part, from 0, both included, and of the whole: `bytes 0-1023/4096`',
  schema: { type: 'string' },
}

const PHRASES = { 200: 'OK', 201: 'Created', 202: 'Accepted: queued' } as const

function answers(route: Route, schemas: Schemas): JsonObject {
  const output = schemas.of(route.output, 'output')
  if (route.media?.inParts === true) return partAnswers(route, output)
  const status = route.status ?? 200
  const isEmpty = output.type === 'null'
  return defined({
    [status]: isEmpty
      ? undefined
      : {
          description: PHRASES[status],
          content: answerContent(route, output),
          ...(route.cacheControl === undefined ? {} : { headers: CACHE_HEADERS }),
        },
    204: isEmpty || admitsNull(output) ? { description: 'Done; no content' } : undefined,
    304: route.cacheControl === undefined ? undefined : { description: 'Not modified since `ETag`' },
  })
}

const CACHE_HEADERS = {
  'Cache-Control': { description: 'Caching of the answer', schema: { type: 'string' } },
  ETag: { description: 'For `If-None-Match`', schema: { type: 'string' } },
}
