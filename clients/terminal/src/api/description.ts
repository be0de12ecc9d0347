import { z } from 'zod'
import type { ApiClient } from './apiClient.ts'

const Schema = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
})
type Schema = z.infer<typeof Schema>

const Contents = z.record(z.string(), z.looseObject({ schema: z.unknown() }))

const Described = z.looseObject({
  operationId: z.string(),
  summary: z.string().default(''),
  parameters: z
    .array(
      z.looseObject({
        name: z.string(),
        in: z.enum(['path', 'query', 'header']),
        required: z.boolean().default(false),
        description: z.string().optional(),
        schema: z.unknown(),
      }),
    )
    .default([]),
  requestBody: z.looseObject({ content: Contents }).optional(),
  responses: z.record(z.string(), z.looseObject({ content: Contents.default({}) })),
})

const Description = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), Described)),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()).default({}) }),
})

const STREAMS = ['text/event-stream', 'application/x-ndjson']

/** How the text of a value is read: as it is, as a number, as `true` or `false`, as a list, or as JSON where it is. */
export type ValueKind = 'text' | 'number' | 'boolean' | 'list' | 'json'

export interface OperationValue {
  readonly name: string
  readonly place: 'path' | 'query' | 'header' | 'body'
  readonly kind: ValueKind
  readonly isRequired: boolean
  readonly description: string
}

export interface ApiOperation {
  /** `endpoints.list` */
  readonly name: string
  readonly method: string
  /** `/api/v1/endpoints/{endpointId}` */
  readonly route: string
  readonly summary: string
  /** Members of a body that is a whole document are not among them. */
  readonly values: readonly OperationValue[]
  /** Media type of the body; undefined where it takes none. */
  readonly bodyType: string | undefined
  /** Whether its answer comes little by little, for as long as it takes. */
  readonly isStream: boolean
}

/** Every operation that the service describes, in its order. */
export async function operationsOf(api: ApiClient): Promise<ApiOperation[]> {
  const read = Description.safeParse(await api.call('GET', '/openapi/v1.json'))
  if (!read.success) throw api.notCreel()
  const { paths, components } = read.data
  const resolved = (value: unknown): Schema => {
    const schema = Schema.parse(value ?? {})
    const name = schema.$ref?.split('/').at(-1)
    return name === undefined ? schema : resolved(components.schemas[name])
  }
  return Object.entries(paths).flatMap(([route, methods]) =>
    Object.entries(methods).map(([method, described]): ApiOperation => {
      const [bodyType, body] = Object.entries(described.requestBody?.content ?? {})[0] ?? []
      return {
        name: described.operationId.replace('_', '.'),
        method: method.toUpperCase(),
        route,
        summary: described.summary,
        values: [
          ...described.parameters.map(({ name, in: place, required, description = '', schema }) => ({
            name,
            place,
            kind: kindOf(resolved(schema), resolved),
            isRequired: required,
            description,
          })),
          ...membersOf(body?.schema, resolved),
        ],
        bodyType,
        isStream: Object.entries(described.responses).some(
          ([status, { content }]) => status.startsWith('2') && STREAMS.some((type) => type in content),
        ),
      }
    }),
  )
}

/** A schema that is referred to is a document of its own, which is given whole. */
function membersOf(body: unknown, resolved: (value: unknown) => Schema): OperationValue[] {
  const { properties = {}, required = [], $ref } = Schema.parse(body ?? {})
  if ($ref !== undefined) return []
  return Object.entries(properties).map(([name, member]) => {
    const schema = resolved(member)
    const { description = schema.description ?? '' } = Schema.parse(member)
    return {
      name,
      place: 'body',
      kind: kindOf(schema, resolved),
      isRequired: required.includes(name),
      description,
    }
  })
}

function kindOf(schema: Schema, resolved: (value: unknown) => Schema): ValueKind {
  const types = typesOf(schema, resolved).filter((type) => type !== 'null')
  const all = (...allowed: string[]) => types.length > 0 && types.every((type) => allowed.includes(type))
  if (all('string')) return 'text'
  if (all('integer', 'number')) return 'number'
  if (all('boolean')) return 'boolean'
  return all('array') ? 'list' : 'json'
}

function typesOf(schema: Schema, resolved: (value: unknown) => Schema): string[] {
  const { type, anyOf = [], oneOf = [] } = schema
  const own = type === undefined ? [] : [type].flat()
  return [...own, ...[...anyOf, ...oneOf].flatMap((one) => typesOf(resolved(one), resolved))]
}
