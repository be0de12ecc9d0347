import { expect, test } from 'bun:test'
import { shedUnsent } from './unsentTotal.ts'

test('those who leave most unread go, until the rest fits', () => {
  const ended: number[] = []
  const holding = [0, 30, 10, 50, 20].map((unsentBytes) => ({
    unsentBytes,
    terminate: () => void ended.push(unsentBytes),
  }))
  expect(shedUnsent(holding, 110)).toEqual([])
  expect(shedUnsent(holding, 40).map(({ unsentBytes }) => unsentBytes)).toEqual([50, 30])
  expect(ended).toEqual([50, 30])
})
