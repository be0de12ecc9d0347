import { expect, test } from 'bun:test'
import { ATTEMPT_STATES, attemptStateOf, requestStateOf, storedWord } from './index.ts'

test('a stored word is itself', () => {
  for (const state of ATTEMPT_STATES) expect(attemptStateOf(state)).toBe(state)
  expect(requestStateOf('Skipped')).toBe('Skipped')
})

test('a stored word that is not known is not shown as another one', () => {
  for (const read of [attemptStateOf, requestStateOf]) expect(() => read('Delayed')).toThrow('"Delayed"')
  expect(() => storedWord(['stripe', 'github'], 'paypal')).toThrow(
    'The stored word "paypal" is none of stripe, github.',
  )
})
