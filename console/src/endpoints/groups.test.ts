import { expect, test } from 'bun:test'
import { groupsOf } from './groups.ts'

test('endpoints with the same text before a slash are a group, at the place of the first', () => {
  const named = (...names: string[]) => groupsOf(names.map((name) => ({ name })))
  const shown = (...names: string[]) =>
    named(...names).map(({ name, items }) => [name, ...items.map((one) => one.name)])
  expect(shown('a', 'orders/eu', 'b', 'orders/us', 'b')).toEqual([
    [undefined, 'a'],
    ['orders', 'orders/eu', 'orders/us'],
    [undefined, 'b'],
    [undefined, 'b'],
  ])
  // One alone is no group, and a slash at an end divides nothing.
  expect(shown('crm/x', '/y', '/z', 'q/', 'q/')).toEqual([
    [undefined, 'crm/x'],
    [undefined, '/y'],
    [undefined, '/z'],
    [undefined, 'q/'],
    [undefined, 'q/'],
  ])
})
