import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { changesOf, diffLines, valuesByName, valuesByPath } from './diff.ts'
import { jsonLines } from './jsonLines.ts'

const values = (json: string) => valuesByPath(jsonLines(json) ?? []) ?? new Map<string, string>()

describe('a comparison', () => {
  test('names what was added, removed and changed, by path', () => {
    const changes = changesOf(
      values('{"a":1,"b":{"c":"x"},"d":[]}'),
      values('{"a":1.0,"b":{"c":"x"},"e":true}'),
    )
    expect(changes).toEqual([
      { path: 'body.a', change: 'changed', before: '1', after: '1.0' },
      { path: 'body.d', change: 'removed', before: '[]', after: null },
      { path: 'body.e', change: 'added', before: null, after: 'true' },
    ])
  })

  test('fields are the same whatever their case, and repeats count', () => {
    const before = valuesByName([{ name: 'X-A', value: '1' }])
    const after = valuesByName([
      { name: 'x-a', value: '1' },
      { name: 'X-A', value: '2' },
    ])
    expect(changesOf(before, after)).toEqual([{ path: 'x-a', change: 'changed', before: '1', after: '1\n2' }])
  })

  test('a name that is repeated in an object has all its values', () => {
    const [one, two] = [values('{"a":1,"a":2,"b":3}'), values('{"a":9,"a":2,"b":3}')]
    expect(changesOf(one, two)).toEqual([
      { path: 'body.a', change: 'changed', before: '1\n2', after: '9\n2' },
    ])
  })

  test('paths of megabytes are not compared', () => {
    // A list in a list, 2 characters each.
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    expect(valuesByPath(jsonLines(deep) ?? [])).toBeUndefined()
    const long = JSON.stringify({ ['a'.repeat(100_000)]: Array.from({ length: 1000 }, () => 1) })
    expect(valuesByPath(jsonLines(long) ?? [])).toBeUndefined()
    expect(valuesByPath(jsonLines('[[[[1]]]]') ?? [])?.size).toBe(1)
  })

  test('of lines: what is not added is the first text, what is not removed the second', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffLines(before, after)
        expect(lines.filter(({ change }) => change !== 'added').map(({ text: line }) => line)).toEqual(before)
        expect(lines.filter(({ change }) => change !== 'removed').map(({ text: line }) => line)).toEqual(
          after,
        )
      }),
    )
  })

  test('of lines: what stayed is not shown as changed', () => {
    const lines = diffLines(['a', 'b', 'c', 'd'], ['a', 'x', 'c', 'd'])
    expect(lines.map(({ change }) => change)).toEqual(['same', 'removed', 'added', 'same', 'same'])
  })
})
