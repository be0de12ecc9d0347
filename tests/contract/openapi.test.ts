import { describe, expect, test } from 'bun:test'
import { ERRORS, ROUTES, STREAMS } from '@creel/core'
import { openApi } from '@creel/gateway'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import Ajv2020 from 'ajv/dist/2020.js'
import { z } from 'zod'
import EXAMPLES from '../../core/src/api/examples.json' with { type: 'json' }
import { brokenPromises } from './growth.ts'

const SNAPSHOT = new URL('./snapshots/openapi.v1.json', import.meta.url)

const json = JSON.stringify(openApi('https://creel.acme.dev', '1.0.0'))
const description = z
  .looseObject({
    openapi: z.string(),
    tags: z.array(z.object({ name: z.string(), description: z.string() })),
    paths: z.record(z.string(), z.record(z.string(), z.unknown())),
    components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
  })
  .parse(JSON.parse(json))

const Operation = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()).length(1),
  parameters: z.array(z.looseObject({ name: z.string(), in: z.string() })),
  requestBody: z
    .object({ content: z.record(z.string(), z.looseObject({ example: z.unknown().optional() })) })
    .loose()
    .optional(),
  responses: z.record(z.string(), z.looseObject({ description: z.string() })),
})

const StreamContent = z.object({
  schema: z.looseObject({ contentSchema: z.object({ items: z.object({ $ref: z.string() }) }).loose() }),
  'x-events': z.record(z.string(), z.unknown()),
})

const EventSchema = z.looseObject({
  oneOf: z.array(
    z.looseObject({
      properties: z.object({
        id: z.looseObject({ type: z.literal('string') }),
        event: z.looseObject({ const: z.string() }),
        data: z.unknown(),
      }),
      required: z.tuple([z.literal('id'), z.literal('event'), z.literal('data')]),
    }),
  ),
})

const operations = ROUTES.map((route) => ({
  route,
  operation: Operation.parse(description.paths[route.path]?.[route.method.toLowerCase()]),
}))

describe('/openapi/v1.json', () => {
  test.each(STREAMS.map((stream) => [stream.name, stream] as const))(
    'describes the events of %s',
    (_, stream) => {
      const { responses } = Operation.parse(description.paths[stream.path]?.get)
      const { content } = z
        .object({ content: z.object({ 'text/event-stream': StreamContent }) })
        .parse(responses['200'])
      const { schema, 'x-events': data } = content['text/event-stream']
      const kinds = Object.keys(stream.events)
      expect(Object.keys(data)).toEqual(kinds)
      const name = schema.contentSchema.items.$ref.replace('#/components/schemas/', '')
      const { oneOf } = EventSchema.parse(description.components.schemas[name])
      expect(oneOf.map(({ properties }) => [properties.event.const, properties.data])).toEqual(
        kinds.map((kind) => [kind, data[kind]]),
      )
    },
  )

  test('is OpenAPI 3.1 and clean under Redocly with its strictest ruleset', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] })
    const problems = await lintFromString({ source: json, config, absoluteRef: '/openapi.json' })
    expect(description.openapi).toStartWith('3.1.')
    expect(
      problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`),
    ).toEqual([])
  })

  test('describes every route, each under a tag of its own noun', () => {
    const described = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const declared = [...ROUTES, ...STREAMS].map(({ method, path }) => `${method} ${path}`)
    expect(described.sort()).toEqual(declared.sort())
    const tags = description.tags.map(({ name }) => name)
    expect(
      operations.flatMap(({ operation }) => operation.tags.filter((tag) => !tags.includes(tag))),
    ).toEqual([])
  })

  test('gives every operation that takes a body an example of one that is accepted', () => {
    const wrong = operations.flatMap(({ route, operation }) => {
      if (operation.requestBody === undefined || route.media?.takes !== undefined) return []
      const { example } = operation.requestBody.content['application/json'] ?? {}
      const pathIds = operation.parameters.filter((one) => one.in === 'path').map(({ name }) => [name, '1'])
      const body = route.body === undefined ? Object(example) : { [route.body]: example }
      const texts = Object.fromEntries(pathIds)
      const numbered = integers(Object.fromEntries(pathIds.filter(([name]) => name !== 'endpointId')))
      const inputs = [texts, integers(texts), { ...texts, ...numbered }]
      const accepted = inputs.some((ids) => route.input.safeParse({ ...body, ...ids }).success)
      return example !== undefined && accepted ? [] : [route.name]
    })
    expect(wrong).toEqual([])
  })

  test('holds schemas that a strict validator compiles, every one', () => {
    const ajv = strictAjv()
    for (const name of Object.keys(description.components.schemas)) {
      ajv.compile({ $ref: `creel#/components/schemas/${name}` })
    }
    expect(json).not.toContain('{"enum":[null]}')
  })

  test('shows what its answers look like, in examples that are valid answers', () => {
    const ajv = strictAjv()
    const shown = Object.entries(description.components.schemas).flatMap(([name, schema]) =>
      z
        .looseObject({ examples: z.array(z.unknown()).default([]) })
        .parse(schema)
        .examples.map((example) => [name, example] as const),
    )
    expect(shown.map(([name]) => name).sort()).toEqual(Object.keys(EXAMPLES).sort())
    for (const [name, example] of shown) {
      const validate = ajv.compile({ $ref: `creel#/components/schemas/${name}` })
      validate(example)
      expect([name, validate.errors]).toEqual([name, null])
    }
  })

  test.each([
    ['Action', 'condition'],
    ['Watchdog', 'match'],
  ])('knows the grammar of the conditions that a %s shows in %s', (schema, member) => {
    const ajv = strictAjv()
    const isDescribed = ajv.compile({ $ref: `creel#/components/schemas/${schema}/properties/${member}` })
    const leaf = { path: 'body.type', op: 'eq', value: 'invoice.paid' }
    for (const condition of [{}, { all: [leaf] }, { any: [{ not: leaf }] }]) {
      expect(isDescribed(condition)).toBe(true)
    }
    for (const other of [
      [],
      { al: [leaf] },
      { all: [{ ...leaf, op: 'equals' }] },
      { all: [leaf], any: [leaf] },
    ]) {
      expect(isDescribed(other)).toBe(false)
    }
  })

  test('says of every operation how it succeeds, and each status of its errors', () => {
    for (const { route, operation } of operations) {
      const statuses = Object.keys(operation.responses)
      const declared = (route.errors ?? []).map((code) => String(ERRORS[code].status))
      expect(statuses).toContainValues(['401', '403', '429', '500', '503', ...declared])
      expect(statuses.filter((status) => status < '300').length).toBeGreaterThan(0)
    }
  })

  test('offers both ways to authenticate', () => {
    expect(JSON.parse(json)).toMatchObject({
      security: [{ bearer: [] }, { apiKey: [] }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer' },
          apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
        },
      },
    })
  })

  test('says of every list what its items are', () => {
    const without: string[] = []
    JSON.parse(json, (name: string, value: unknown) => {
      const schema = Object(value)
      if (schema.type === 'array' && !('items' in schema) && !('prefixItems' in schema)) without.push(name)
      return value
    })
    expect(without).toEqual([])
  })

  test('only grows: nothing that was described before is gone or changed', async () => {
    expect(brokenPromises(await Bun.file(SNAPSHOT).json(), JSON.parse(json))).toEqual([])
  })

  test('is promised whole: what has grown is in the snapshot (`bun run openapi:snapshot`)', async () => {
    expect(brokenPromises(JSON.parse(json), await Bun.file(SNAPSHOT).json())).toEqual([])
  })
})

/** A strict validator with the description, which refuses schemas with meaningless keywords. */
function strictAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, validateFormats: false })
  ajv.addVocabulary(Object.keys(description))
  ajv.addSchema(description, 'creel')
  return ajv
}

/** The ids of a path as numbers, which some routes take. */
function integers(ids: Readonly<Record<string, string>>): Record<string, number> {
  return Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, Number(id)]))
}
