import { expect, test } from 'bun:test'
import { CamelCasePlugin, type PluginTransformResultArgs } from 'kysely'
import { memberNames } from './memberNames.ts'

const rows = [
  { id: 1, sha256: 'a', created_at: new Date(0), first_2_of: null, data: { is_nested: [{ as_it: 'is' }] } },
  { id: 2, sha256: 'b', created_at: new Date(1), first_2_of: ['x_y'], data: {} },
]

test('columns become members, and what they hold stays as it is', () => {
  expect(memberNames.mapRows(rows)).toEqual([
    { id: 1, sha256: 'a', createdAt: new Date(0), first2Of: null, data: { is_nested: [{ as_it: 'is' }] } },
    { id: 2, sha256: 'b', createdAt: new Date(1), first2Of: ['x_y'], data: {} },
  ])
  expect(memberNames.mapRows([])).toEqual([])
})

test('rows whose columns are called as their members are passed on', () => {
  const named = [{ id: 1, createdAt: new Date(0) }]
  expect(memberNames.mapRows(named)).toEqual(named)
  expect(memberNames.mapRows(named)[0]).toBe(named[0])
})

test("as Kysely's own plugin has it", async () => {
  const result: PluginTransformResultArgs = { queryId: { queryId: 'any' }, result: { rows } }
  const kysely = new CamelCasePlugin({ maintainNestedObjectKeys: true })
  expect(await memberNames.transformResult(result)).toEqual(await kysely.transformResult(result))
})
