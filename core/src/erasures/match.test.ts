import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Search, valueFinder } from './match.ts'

/** The result of a search, and the number of its steps. */
function searched(search: Search): { readonly isFound: boolean; readonly steps: number } {
  for (let steps = 1; ; steps += 1) {
    const { done, value } = search.next()
    if (done === true) return { isFound: value, steps }
  }
}

const escapedJson = (text: string) =>
  [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
const escapedBytes = (text: string, encoding: 'utf8' | 'latin1') =>
  [...Buffer.from(text, encoding)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')

/** Form encoding, as browsers and most senders write it. */
const formed = (text: string) => new URLSearchParams([['', text]]).toString().slice(1)
/** JSON that escapes some characters, as many writers do. */
const partlyEscapedJson = (text: string) => text.replace(/[^ \d]/g, escapedJson)

const VALUES = ['ada@example.com', 'José Núñez', '王小明', '+49 170 1234567', 'C++ & A+ Müller'] as const
const SPELLINGS = {
  plain: (text: string) => text,
  json: escapedJson,
  percent: (text: string) => escapedBytes(text, 'utf8'),
  both: (text: string) => escapedBytes(escapedJson(text), 'utf8'),
  twice: (text: string) => encodeURIComponent(escapedBytes(text, 'utf8')),
  form: formed,
  formInForm: (text: string) => formed(formed(text)),
  jsonInForm: (text: string) => formed(partlyEscapedJson(text)),
} as const
/** Texts before and after a value, which are repeated to any length. */
const FILLERS = ['"', '%e7%8e%8b%2c', '\\u0041 ', '\\\\"', '%25', '+', '%2', 'é;', ' word']

const long = fc
  .tuple(fc.constantFrom(...FILLERS), fc.nat(40_000), fc.nat(12))
  .map(([filler, length, less]) => filler.repeat(Math.ceil(length / filler.length)).slice(0, length - less))

test('a value is found in texts of many pieces, wherever it stands and however it is spelled', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...VALUES),
      fc.constantFrom(...Object.values(SPELLINGS)),
      long,
      long,
      (value, spelled, before, after) => {
        const text = `${before} ; ${spelled(value)} ; ${after}`
        expect(searched(valueFinder(value, []).inText(text)).isFound).toBe(true)
      },
    ),
    { numRuns: 300 },
  )
})

test('a value is found in a run of escapes that is longer than a piece', () => {
  fc.assert(
    fc.property(fc.nat(20_000), fc.nat(20_000), (before, after) => {
      const text = escapedBytes(`${'，'.repeat(before)}王小明${'，'.repeat(after)}`, 'utf8')
      expect(searched(valueFinder('王小明', []).inText(text)).isFound).toBe(true)
      const latin1 = `${'%20'.repeat(before)}${escapedBytes('José', 'latin1')}${'%20'.repeat(after)}`
      expect(searched(valueFinder('José', []).inText(latin1)).isFound).toBe(true)
    }),
    { numRuns: 50 },
  )
})

test('a longer word is no match at any border of pieces', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('nada@example.com', 'first.ada@example.com', 'ada@example.com.au', 'ada@example.coma'),
      fc.constantFrom(...Object.values(SPELLINGS)),
      long,
      long,
      (word, spelled, before, after) => {
        const text = `${before} ; ${spelled(word)} ; ${after}`
        expect(searched(valueFinder('ada@example.com', []).inText(text)).isFound).toBe(false)
      },
    ),
    { numRuns: 300 },
  )
})

test('neither a cut word is a match nor a cut value lost, wherever the border is', () => {
  const finder = valueFinder('ada@example.com', [])
  // The first piece ends at 16,384; the second begins before, by what a value may take.
  for (let length = 13_250; length < 16_500; length += 1) {
    const [before, after] = ['-'.repeat(length), ';'.repeat(20_000 - length)]
    const isIn = (text: string) => searched(finder.inText(`${before} ${text} ${after}`)).isFound
    if (length < 13_450 || length > 16_250) {
      expect(isIn('nada@example.com')).toBe(false)
      expect(isIn('first.ada@example.com')).toBe(false)
      expect(isIn('ada@example.com.au')).toBe(false)
    }
    if (length % 7 === 0) expect(isIn(escapedJson('ada@example.com'))).toBe(true)
  }
})

test('long texts take many steps, between which other work runs', () => {
  const hostile = '\\u0025\\u0034\\u0031'.repeat(100_000)
  expect(searched(valueFinder('ada@example.com', []).inText(hostile)).steps).toBeGreaterThan(100)
  expect(searched(valueFinder('ada@example.com', []).inBytes(Buffer.from(hostile))).steps).toBeGreaterThan(
    100,
  )
})
