import { ERRORS, type ErrorCode, Problem, ROUTES, type Route } from '@creel/core'
import { z } from 'zod'

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
type Schema = { [name: string]: Json }

/** Codes that every route may answer (SPEC "Endpoints"). */
const COMMON_CODES: readonly ErrorCode[] = [
  'unauthorized',
  'api_access_disabled',
  'rate_limited',
  'internal_error',
]

/**
 * The OpenAPI 3.1 description, made from the same declarations that are served: what it says and what is
 * decoded cannot differ.
 *
 * @param baseUrl {base_url}, for `servers`
 */
export function openApi(baseUrl: string, version: string): Schema {
  const schemas: Record<string, Json> = {}
  const schemaOf = (schema: z.ZodType, io: 'input' | 'output') => hoist(schema, io, schemas)
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of ROUTES) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route, schemaOf) }
  }
  schemaOf(Problem, 'output')
  return {
    openapi: '3.1.0',
    info: {
      title: 'Creel',
      version,
      summary: 'Capture, inspect, transform, forward and replay webhooks.',
      description:
        'The v1 contract is append-only: members may be added, existing ones never change meaning.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: [...new Set(ROUTES.map(tagOf))].map((name) => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <API_KEY>' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'Equivalent fallback' },
      },
    },
  }
}

const tagOf = (route: Route) => route.name.split('.')[0] ?? route.name

function operation(route: Route, schemaOf: (schema: z.ZodType, io: 'input' | 'output') => Schema): Schema {
  const input = inlined(schemaOf(route.input, 'input'))
  const pathNames = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
  const hasBody = route.method !== 'GET' && route.method !== 'DELETE'
  const queryNames = Object.keys(input.properties).filter(
    (name) => !pathNames.includes(name) && (!hasBody || (route.query ?? []).includes(name)),
  )
  const bodyNames = Object.keys(input.properties).filter(
    (name) => hasBody && !pathNames.includes(name) && !queryNames.includes(name),
  )
  const parameter = (place: 'path' | 'query') => (name: string) => {
    const schema = input.properties[name] ?? {}
    const { description, ...rest } = schema
    return {
      name,
      in: place,
      required: place === 'path' || input.required.includes(name),
      ...(typeof description === 'string' ? { description } : {}),
      schema: rest,
    }
  }
  return {
    operationId: route.name.replaceAll('.', '_'),
    tags: [tagOf(route)],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    parameters: [...pathNames.map(parameter('path')), ...queryNames.map(parameter('query'))],
    ...(bodyNames.length === 0 ? {} : { requestBody: requestBody(route, input, bodyNames) }),
    responses: responses(route, schemaOf),
  }
}

interface Inlined {
  readonly properties: Record<string, Schema>
  readonly required: readonly string[]
}

function inlined(schema: Schema): Inlined {
  const properties: Record<string, Schema> = {}
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    properties[name] = isSchema(property) ? property : {}
  }
  const required = Array.isArray(schema.required) ? schema.required.map(String) : []
  return { properties, required }
}

function requestBody(route: Route, input: Inlined, bodyNames: readonly string[]): Schema {
  const whole = route.body === undefined ? undefined : input.properties[route.body]
  const required = bodyNames.filter((name) => input.required.includes(name))
  const schema: Schema = whole ?? {
    type: 'object',
    properties: Object.fromEntries(bodyNames.map((name) => [name, input.properties[name] ?? {}])),
    ...(required.length === 0 ? {} : { required }),
  }
  return { required: whole !== undefined || required.length > 0, content: { 'application/json': { schema } } }
}

function responses(route: Route, schemaOf: (schema: z.ZodType, io: 'output') => Schema): Schema {
  const output = schemaOf(route.output, 'output')
  const answers: Schema = {}
  if (output.type !== 'null') {
    answers[String(route.status ?? 200)] = {
      description: 'Success',
      content: { [route.contentType ?? 'application/json']: { schema: withoutNull(output) } },
    }
  }
  if (output.type === 'null' || admitsNull(output)) answers['204'] = { description: 'Done; no content' }
  if (route.cacheControl !== undefined) answers['304'] = { description: 'Not modified' }
  const codes = [...COMMON_CODES, ...implied(route), ...(route.errors ?? [])]
  const byStatus = Map.groupBy(new Set(codes), (code) => ERRORS[code].status)
  for (const [status, grouped] of [...byStatus].sort(([a], [b]) => a - b)) {
    answers[String(status)] = {
      description: grouped.map((code) => `\`${code}\``).join(', '),
      ...(status === 429
        ? { headers: { 'Retry-After': { description: 'Seconds', schema: { type: 'integer' } } } }
        : {}),
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    }
  }
  return answers
}

/** Codes that follow from the shape of a route. */
function implied(route: Route): ErrorCode[] {
  const codes: ErrorCode[] = []
  if (Object.keys(route.input.shape).length > 0) codes.push('validation_failed')
  if (route.method !== 'GET' && route.method !== 'DELETE') codes.push('request_invalid')
  if (route.path.includes('{')) codes.push('not_found')
  return codes
}

const isNull = (member: Json) => isSchema(member) && member.type === 'null'

function admitsNull(schema: Schema): boolean {
  return Array.isArray(schema.anyOf) && schema.anyOf.some(isNull)
}

function withoutNull(schema: Schema): Schema {
  if (!Array.isArray(schema.anyOf)) return schema
  const members = schema.anyOf.filter((member) => !isNull(member))
  const only = members[0]
  return members.length === 1 && isSchema(only) ? only : { ...schema, anyOf: members }
}

/** The schema as OpenAPI wants it: named parts move to `components/schemas` and are referred to. */
function hoist(schema: z.ZodType, io: 'input' | 'output', schemas: Record<string, Json>): Schema {
  const made: unknown = z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-2020-12' })
  const root = rewritten(JSON.parse(JSON.stringify(made)))
  if (!isSchema(root)) return {}
  const { $defs, $schema: _dialect, ...rest } = root
  for (const [name, definition] of Object.entries($defs ?? {})) {
    if (isSchema(definition)) {
      const { id: _id, ...named } = definition
      schemas[name] = named
    }
  }
  if (typeof rest.id === 'string') {
    const { id, ...named } = rest
    schemas[id] = named
    return { $ref: `#/components/schemas/${id}` }
  }
  return rest
}

function rewritten(value: Json): Json {
  if (Array.isArray(value)) return value.map(rewritten)
  if (!isSchema(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) =>
      name === '$ref' && typeof member === 'string'
        ? [name, member.replace('#/$defs/', '#/components/schemas/')]
        : [name, rewritten(member)],
    ),
  )
}

function isSchema(value: Json | undefined): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
