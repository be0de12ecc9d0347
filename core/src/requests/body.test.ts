import { expect, test } from 'bun:test'
import { rangeOf } from './body.ts'

test.each([
  ['bytes=0-3', 0, 4],
  ['bytes=6-', 6, 4],
  ['bytes=-3', 7, 3],
  ['bytes=-30', 0, 10],
  ['bytes=8-99', 8, 2],
  ['bytes=10-', 0, 10],
  ['bytes=4-2', 0, 10],
  ['bytes=-', 0, 10],
  ['bytes=-0', 0, 10],
  ['bytes=0-1,4-5', 0, 10],
  ['lines=0-1', 0, 10],
  [undefined, 0, 10],
])('%p of ten octets is from %d, %d long', (range, from, length) => {
  expect(rangeOf(range, 10)).toEqual({ from, length })
})
