import { expect, test } from 'bun:test'
import { BAR_MS, BARS, Rejections } from './bars.ts'

const counts = (...rejected: readonly (readonly [id: string, count: number])[]) => ({
  endpoints: rejected.map(([id, rejectedCount]) => ({
    id,
    name: id,
    isActive: true,
    expiresAt: null,
    storedRequestCount: 0,
    lastRequestAt: null,
    rejectedCount,
    attentionCount: 0,
  })),
})

test('what is rejected between two counts belongs to the bar in which it was heard', () => {
  const rejections = new Rejections()
  rejections.hear(counts(['a', 100], ['b', 7]), 10 * BAR_MS)
  expect(rejections.of('a').size).toBe(0)
  rejections.hear(counts(['a', 103]), 11 * BAR_MS)
  rejections.hear(counts(['a', 108]), 11 * BAR_MS + 1)
  rejections.hear(counts(['a', 108], ['b', 8]), 12 * BAR_MS)
  expect([...rejections.of('a')]).toEqual([[11, 8]])
  expect([...rejections.of('b')]).toEqual([[12, 1]])
  rejections.hear(counts(['a', 109]), (11 + BARS) * BAR_MS)
  expect([...rejections.of('a')]).toEqual([[11 + BARS, 1]])
})
