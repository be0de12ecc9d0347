import { expect, test } from 'bun:test'
import { namesOf, rulesOf, sampleOf, textOfRules } from './settingsDraft.ts'

test('names stand one on a line', () => {
  expect(namesOf(' Cookie \n\nX-Api-Key\n')).toEqual(['Cookie', 'X-Api-Key'])
})

test('rules are a list, or one document; other texts are none', () => {
  const step = { op: 'remove', paths: ['body.a'] }
  expect(rulesOf('')).toEqual([])
  expect(rulesOf(JSON.stringify([step]))).toEqual([step])
  expect(rulesOf(JSON.stringify({ steps: [step] }))).toEqual([{ steps: [step] }])
  for (const text of ['[', '1', '[1]', 'null', '[[]]']) expect(rulesOf(text)).toBeUndefined()
  expect(rulesOf(textOfRules([step]))).toEqual([step])
  expect(textOfRules([])).toBe('')
})

test('a pasted request is JSON, or the body', () => {
  expect(sampleOf('{"a":1}')).toEqual({ a: 1 })
  expect(sampleOf('plain')).toEqual({ body: 'plain' })
})
