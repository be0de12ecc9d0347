import { describe, expect, test } from 'bun:test'
import { brokenPromises, type Json } from './growth.ts'

/** A description of one operation, with the parts that a test changes. */
function described({
  members = {},
  values = ['a', 'b'],
  required = [],
  parameters = [{ name: 'page', in: 'query', schema: { type: 'integer', minimum: 1 } }],
  paths = {},
  words = 'Lists',
}: {
  members?: { readonly [name: string]: Json }
  values?: readonly string[]
  required?: readonly string[]
  parameters?: readonly Json[]
  paths?: { readonly [name: string]: Json }
  words?: string
} = {}): Json {
  const body = {
    type: 'object',
    properties: { name: { type: 'string' } },
    ...(required.length ? { required } : {}),
  }
  return {
    paths: {
      '/a': {
        post: {
          summary: words,
          parameters,
          requestBody: { content: { 'application/json': { schema: body } } },
          responses: { '200': { $ref: '#/components/schemas/Thing' } },
        },
      },
      ...paths,
    },
    components: {
      schemas: {
        Thing: {
          type: 'object',
          properties: {
            id: { type: 'string' },
            state: { enum: values },
            title: { type: 'string' },
            ...members,
          },
          required: ['id'],
        },
      },
    },
  }
}

const older = described()

describe('brokenPromises', () => {
  test.each<[string, Json]>([
    ['nothing changed', described()],
    ['a member more', described({ members: { name: { type: 'string' } } })],
    ['a value more, in another order', described({ values: ['c', 'b', 'a'] })],
    ['an operation more', described({ paths: { '/b': { get: {} } } })],
    [
      'a parameter more, in another order',
      described({
        parameters: [{ name: 'q' }, { name: 'page', in: 'query', schema: { type: 'integer', minimum: 1 } }],
      }),
    ],
    ['other words', described({ words: 'Reads' })],
    [
      'an input with wider bounds',
      described({ parameters: [{ name: 'page', in: 'query', schema: { type: 'integer', minimum: 0 } }] }),
    ],
    [
      'a schema that got a name',
      {
        ...Object(older),
        components: {
          schemas: {
            Thing: { $ref: '#/components/schemas/Named' },
            Named: Object(older).components.schemas.Thing,
          },
        },
      },
    ],
    [
      'an input that may be null',
      described({
        parameters: [
          { name: 'page', in: 'query', schema: { anyOf: [{ type: 'integer' }, { type: 'null' }] } },
        ],
      }),
    ],
  ])('%s is growth', (_, newer) => {
    expect(brokenPromises(older, newer)).toEqual([])
  })

  test.each<[string, Json, string]>([
    [
      'a member of another type',
      described({ members: { id: { type: 'integer' } } }),
      'Thing/properties/id/type',
    ],
    [
      'a member named like a word',
      described({ members: { title: { type: 'integer' } } }),
      'properties/title/type',
    ],
    [
      'a name for another schema',
      {
        ...Object(older),
        components: {
          schemas: { Thing: { $ref: '#/components/schemas/Named' }, Named: { type: 'string' } },
        },
      },
      'Thing/properties: gone',
    ],
    ['a value less', described({ values: ['a'] }), 'state/enum: b is gone'],
    [
      'an input with narrower bounds',
      described({ parameters: [{ name: 'page', in: 'query', schema: { type: 'integer', minimum: 2 } }] }),
      'page/schema/minimum',
    ],
    ['a parameter less', described({ parameters: [] }), 'parameters/page: gone'],
    ['a member of the body that is required now', described({ required: ['name'] }), 'name is required now'],
    ['an operation less', { ...Object(older), paths: {} }, 'paths//a: gone'],
  ])('%s breaks a promise', (_, newer, what) => {
    expect(brokenPromises(older, newer).join()).toContain(what)
  })
})
