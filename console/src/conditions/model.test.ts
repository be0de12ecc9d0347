import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parsed } from '../json.ts'
import { conditionOf, draftOf } from './model.ts'

const back = (document: unknown) => {
  const draft = draftOf(document)
  return draft === null ? null : conditionOf(draft)
}

const leaf = fc.record({
  path: fc.constantFrom('body.type', 'label', 'headers.x'),
  op: fc.constantFrom('eq', 'neq', 'gt', 'contains', 'like'),
  value: fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
})
const list = fc.record({
  path: fc.constant('label'),
  op: fc.constantFrom('in', 'nin'),
  value: fc.array(fc.oneof(fc.string(), fc.integer()), { minLength: 1, maxLength: 3 }),
})
const exists = fc.record({ path: fc.constant('body.a'), op: fc.constant('exists'), value: fc.boolean() })

describe('the condition builder', () => {
  test('shows a document and writes the same one', () => {
    const item = fc.oneof(leaf, list, exists)
    const group = fc.oneof(
      fc.record({ any: fc.array(item, { minLength: 1, maxLength: 3 }) }),
      item.map((one) => ({ not: one })),
      item,
    )
    fc.assert(
      fc.property(fc.array(group, { minLength: 1, maxLength: 3 }), (all) => {
        expect(back({ all })).toEqual({ all })
      }),
    )
  })

  test('a condition that always holds has no comparisons', () => {
    expect(back({})).toEqual({})
    expect(draftOf({})?.items).toEqual([])
  })

  test('a lone comparison stands in a group', () => {
    expect(back({ path: 'label', op: 'eq', value: 'a' })).toEqual({
      all: [{ path: 'label', op: 'eq', value: 'a' }],
    })
  })

  test('what it cannot show stays JSON', () => {
    expect(draftOf({ all: [{ path: 'label', op: 'sounds', value: 1 }] })).toBeNull()
    expect(draftOf({ all: [], any: [] })).toBeNull()
    expect(draftOf([])).toBeNull()
  })

  test('a number keeps its digits', () => {
    const text =
      '{"all":[{"path":"body.id","op":"eq","value":9007199254740993},{"path":"body.at","op":"in","value":[1.50,1e400]}]}'
    const draft = draftOf(parsed(text))
    if (draft === null) throw new Error('The builder does not show it.')
    expect(JSON.stringify(conditionOf(draft))).toBe(text)
  })
})
