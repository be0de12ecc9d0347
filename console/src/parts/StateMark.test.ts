import { expect, test } from 'bun:test'
import { countsText, triesText, worstState } from './StateMark.tsx'

const counts = (members: object) => ({ succeeded: 0, failed: 0, waiting: 0, deadLettered: 0, ...members })

test.each([
  ['Succeeded', counts({ succeeded: 1, deadLettered: 1 }), 'DeadLetter', '1 dead letter, 1 delivered'],
  ['Succeeded', counts({ succeeded: 1, failed: 2 }), 'Failed', '2 failed, 1 delivered'],
  ['Errored', counts({ failed: 1 }), 'Errored', undefined],
  ['Succeeded', counts({ succeeded: 1, waiting: 1 }), 'Pending', '1 pending, 1 delivered'],
  ['Succeeded', counts({ succeeded: 2 }), 'Succeeded', '2 delivered'],
  ['Failed', counts({ succeeded: 1 }), 'Succeeded', undefined],
  ['Succeeded', counts({ failed: 1 }), 'Failed', undefined],
  ['Skipped', counts({}), 'Skipped', undefined],
] as const)('a request that is %s, with %p, is shown as %s', (state, results, shown, words) => {
  expect([worstState(state, results), countsText(results)]).toEqual([shown, words])
})

test('a row counts deliveries if there are several, else attempts of the one', () => {
  const none = { succeeded: 0, failed: 0, waiting: 0, deadLettered: 0 }
  expect(triesText(none, 0)).toBe('')
  expect(triesText({ ...none, succeeded: 1 }, 1)).toBe('')
  expect(triesText({ ...none, failed: 1 }, 3)).toBe('3 attempts')
  expect(triesText({ ...none, succeeded: 2 }, 2)).toBe('2 deliveries')
  expect(triesText({ ...none, succeeded: 1, failed: 1 }, 4)).toBe('2 deliveries')
})
