import { expect, test } from 'bun:test'
import { wholeRequest } from '../../../../tests/support/wholeRequest.ts'
import { bodyText, stateText } from './requestText.ts'

const counts = { succeeded: 0, failed: 0, waiting: 0, deadLettered: 0 }

test.each([
  [{ state: 'Succeeded', deliveryCounts: { ...counts, succeeded: 2, failed: 1 } }, '1 Failed, 2 Succeeded'],
  [{ state: 'Succeeded', deliveryCounts: { ...counts, succeeded: 2 } }, 'Succeeded'],
  [{ state: 'Succeeded', deliveryCounts: { ...counts, failed: 1 } }, 'Failed'],
  [{ state: 'Errored', deliveryCounts: { ...counts, failed: 1 } }, 'Errored'],
  [{ state: 'Skipped', deliveryCounts: counts }, 'Skipped'],
  [{ state: 'Failed' }, 'Failed'],
] as const)('the state of %p is %p', (request, text) => {
  expect(stateText(request)).toBe(text)
})

const shownBody = (body: string) => bodyText(wholeRequest({ body })).map(String)

test('JSON has a line for each member, with empty lists and digits as they are', () => {
  expect(shownBody('{"a":[ ],"b":{"c":1.50,"d":["{",{}]}}').join('\n')).toBe(`{
  "a": [],
  "b": {
    "c": 1.50,
    "d": [
      "{",
      {}
    ]
  }
}`)
  expect(shownBody('"text"')).toEqual(['"text"'])
})

test('a body that is nested deeply or is long costs no more than what is shown of it', () => {
  const deep = shownBody(`${'[1,'.repeat(2_000)}0${']'.repeat(2_000)}`)
  expect(deep.join('\n').length).toBeLessThan(20_100)
  expect(deep.at(-1)).toMatch(/^\(\d+ more characters\)$/)
  const wide = shownBody(`[${'[],'.repeat(100_000)}1]`)
  expect(wide.at(-1)).toMatch(/^\(29\d{4} more characters\)$/)
  const long = shownBody(JSON.stringify({ a: 'é"'.repeat(1_000_000) }))
  expect(long.slice(0, 1)).toEqual(['{'])
  expect(long[1]).toStartWith('  "a": "é\\"é')
  expect(long.at(-1)).toMatch(/^\(29\d{5} more characters\)$/)
})
