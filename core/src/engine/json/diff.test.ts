import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { eachJsonDifference, type JsonDifference } from './diff.ts'
import { parseJson } from './parse.ts'
import { toPlain } from './value.ts'

function differences(before: string, after: string): JsonDifference[] {
  const [one, two] = [parseJson(before), parseJson(after)]
  if (one === undefined || two === undefined) throw new Error('These are not JSON.')
  const found: JsonDifference[] = []
  eachJsonDifference('$', one.value, two.value, (difference) => found.push(difference) > 0)
  return found
}

const paths = (before: string, after: string) => differences(before, after).map(({ path }) => path)

test('two documents differ exactly if their texts without order differ', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, two) => {
      const [before, after] = [JSON.stringify(one), JSON.stringify(two)]
      expect(paths(before, before)).toEqual([])
      expect(paths(before, after).length > 0).toBe(
        !Bun.deepEquals(JSON.parse(before), JSON.parse(after), true),
      )
    }),
  )
})

test.each([
  ['{"a":null}', '{}', '$.a'],
  ['{}', '{"a":null}', '$.a'],
  ['[1,null]', '[1]', '$[1]'],
  ['{"a":{"b":[1,{"c":2}]}}', '{"a":{"b":[1,{"c":3}]}}', '$.a.b[1].c'],
  ['{"a":{}}', '{"a":[]}', '$.a'],
  ['{"__proto__":1}', '{}', '$.__proto__'],
  ['9007199254740993', '9007199254740992', '$'],
])('%s and %s differ in %s', (before, after, path) => {
  expect(paths(before, after)).toEqual([path])
})

test('numbers are equal by their value, and members in any order', () => {
  expect(paths('{"a":1.0,"b":2}', '{"b":2e0,"a":1}')).toEqual([])
})

test('a missing side is undefined', () => {
  const [only] = differences('{"a":null}', '{}')
  expect([only?.before, only?.after]).toEqual([null, undefined])
})

test('values below a very long path are compared as a whole', () => {
  const nested = (value: number) => `${`{"${'n'.repeat(100)}":`.repeat(50)}${value}${'}'.repeat(50)}`
  const [only, ...others] = differences(nested(1), nested(2))
  expect(others).toEqual([])
  expect(only?.path.length).toBeLessThan(1200)
  expect(JSON.stringify(toPlain(only?.before ?? null))).toEndWith(
    '1'.padEnd(only === undefined ? 0 : 41, '}'),
  )
  expect(differences(nested(1), nested(1))).toEqual([])
})
