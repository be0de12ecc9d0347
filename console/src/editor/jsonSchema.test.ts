import { expect, test } from 'bun:test'
import { membersOf, schemasAt, valuesOf } from './jsonSchema.ts'

const schema = {
  type: 'object',
  properties: { steps: { type: 'array', items: { $ref: '#/$defs/Step' } } },
  $defs: {
    Step: {
      anyOf: [
        {
          type: 'object',
          properties: { op: { const: 'set' }, path: { type: 'string', description: 'Where' } },
        },
        { type: 'object', properties: { op: { const: 'remove' }, deep: { type: 'boolean' } } },
      ],
    },
  },
}

test('a schema says which members and values may stand at a place, through references and alternatives', () => {
  expect([...membersOf(schemasAt(schema, []))]).toEqual([['steps', '']])
  expect([...membersOf(schemasAt(schema, ['steps', 3]))]).toEqual([
    ['op', ''],
    ['path', 'Where'],
    ['deep', ''],
  ])
  expect(valuesOf(schemasAt(schema, ['steps', 0, 'op']))).toEqual(['set', 'remove'])
  expect(valuesOf(schemasAt(schema, ['steps', 0, 'deep']))).toEqual([true, false])
  expect(schemasAt(schema, ['nothing', 'here'])).toEqual([])
})

test('a schema that refers to itself ends', () => {
  const endless = { $ref: '#' }
  expect(valuesOf(schemasAt(endless, []))).toEqual([])
})
