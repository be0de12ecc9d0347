import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { jsonInSlices, slicesOf } from './longAnswer.ts'

/** Texts around the length of a slice, with characters of one and of two halves on its edge. */
const long = fc
  .tuple(fc.integer({ min: 65_530, max: 65_540 }), fc.string({ unit: 'grapheme', maxLength: 9 }), fc.nat(3))
  .map(([length, text, times]) => `${'é"\n'.repeat(times)}${'x'.repeat(length)}${text}`.repeat(times + 1))

test('the JSON of a value with long texts is that of JSON.stringify', async () => {
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      long,
      fc.jsonValue(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.date({ noInvalidDate: true }),
    ),
  })).value
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), json, { maxKeys: 4 }), async (value) => {
      expect((await jsonInSlices(value)).join('')).toBe(JSON.stringify(value))
    }),
    { numRuns: 60 },
  )
})

test('slices are the text, and none ends within a character', () => {
  fc.assert(
    fc.property(long, (text) => {
      const slices = [...slicesOf(text)]
      expect(slices.join('')).toBe(text)
      expect(Buffer.concat(slices.map((slice) => Buffer.from(slice))).toString()).toBe(text)
    }),
    { numRuns: 60 },
  )
})
