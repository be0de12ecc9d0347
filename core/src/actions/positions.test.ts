import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { placed } from './create.ts'

test.each([
  [['a', 'b'], 'c', undefined, ['a', 'b', 'c']],
  [['a', 'b'], 'c', 1, ['c', 'a', 'b']],
  [['a', 'b'], 'c', 99, ['a', 'b', 'c']],
  [['a', 'b', 'c'], 'a', undefined, ['a', 'b', 'c']],
  [['a', 'b', 'c'], 'a', 2, ['b', 'a', 'c']],
  [['a', 'b', 'c'], 'a', 3, ['b', 'c', 'a']],
  [['a', 'b', 'c'], 'c', 1, ['c', 'a', 'b']],
])('%p with %p at %p is %p', (ids, id, position, expected) => {
  expect(placed(ids, id, position)).toEqual(expected)
})

test('nothing is lost or doubled, and the others keep their order', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string(), { minLength: 1 }),
      fc.nat(),
      fc.integer({ min: 1, max: 30 }),
      (ids, pick, at) => {
        const id = ids[pick % ids.length] ?? ''
        const order = placed(ids, id, at)
        expect(order.filter((other) => other !== id)).toEqual(ids.filter((other) => other !== id))
        expect(order.indexOf(id)).toBe(Math.min(at, ids.length) - 1)
      },
    ),
  )
})
