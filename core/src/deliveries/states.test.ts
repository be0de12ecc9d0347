import { describe, expect, test } from 'bun:test'
import { retriesAfterInterruption, stateAfter } from './states.ts'

const endOf = (statusCode: number | null, retried: boolean, deadLetters = true) =>
  stateAfter({ statusCode, retried, deadLetters })

describe('the states of an attempt', () => {
  test.each([
    [200, true, 'Succeeded'],
    [299, false, 'Succeeded'],
    [302, true, 'Failed'],
    [503, true, 'Failed'],
    [503, false, 'DeadLetter'],
    [410, false, 'DeadLetter'],
    [null, true, 'Errored'],
    [null, false, 'DeadLetter'],
  ] as const)('status %p with another try %p ends %s', (statusCode, retried, state) => {
    expect(endOf(statusCode, retried)).toBe(state)
  })

  test('an inline replay never ends DeadLetter', () => {
    expect([endOf(204, false, false), endOf(410, false, false), endOf(null, false, false)]).toEqual([
      'Succeeded',
      'Failed',
      'Errored',
    ])
  })

  test('an interrupted last attempt gets one more, once', () => {
    expect([6, 7, 8].map((attempt) => retriesAfterInterruption(attempt, 6))).toEqual([true, true, false])
  })
})
