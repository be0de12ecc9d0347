import { expect, test } from 'bun:test'
import { inUnits, secondsOf, typedNumber } from './DurationField.tsx'

test('a text that is no number becomes one that no setting can be', () => {
  for (const text of ['', ' ', '1,5', '2o4', 'Infinity', '1e999']) expect(typedNumber(text)).toBe(-1)
  expect(typedNumber(' 204 ')).toBe(204)
  expect(secondsOf({ amount: '1e308', unit: 'days' })).toBe(-1)
  expect(secondsOf({ amount: '1,5', unit: 'hours' })).toBe(-1)
})

test('a duration comes back as it was', () => {
  expect(secondsOf({ amount: '1.5', unit: 'hours' })).toBe(5400)
  for (const seconds of [0, 1, 59, 60, 3600, 5400, 86_400, 90_000])
    expect(secondsOf(inUnits(seconds))).toBe(seconds)
})
