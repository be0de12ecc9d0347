import { expect, test } from 'bun:test'
import { stateText } from './requestText.ts'

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
