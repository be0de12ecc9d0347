import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { jsonText, SafeText } from './safeText.ts'

const HIDDEN = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/u
const foreign = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(
      fc.constantFrom('\u001b[31m', '\u009b2J', '\n', '\t', '\u202e', '\ud800', '漢', 'é', 'a', '\u007f'),
    )
    .map((parts) => parts.join('')),
)

describe('safe text', () => {
  test('holds no character that a terminal obeys, whatever it is made of, cut, padded, joined and wrapped', () => {
    fc.assert(
      fc.property(foreign, foreign, fc.integer({ min: 1, max: 40 }), (left, right, columns) => {
        const joined = SafeText.joined([left, SafeText.of(right)], '  ')
        const made = [
          joined,
          joined.cut(columns),
          joined.padded(columns),
          joined.trimmed(),
          ...joined.wrapped(columns),
        ]
        for (const one of made) expect(one.toString()).not.toMatch(HIDDEN)
        expect(joined.cut(columns).width).toBeLessThanOrEqual(columns)
        expect(joined.padded(columns).width).toBeGreaterThanOrEqual(columns)
        for (const line of SafeText.lines(left))
          expect(line.toString().replaceAll('\t', '')).not.toMatch(HIDDEN)
      }),
    )
  })

  test('escapes once', () => {
    const once = SafeText.of('a\u001bb\r\nc\u202e')
    expect(once.toString()).toBe('a\\u001bb\\u000d\\u000ac\\u202e')
    expect(SafeText.of(once).toString()).toBe(once.toString())
  })

  test('keeps what is no harm: letters of every script, emoji, combining marks', () => {
    const text = 'zoë 漢字 עברית e\u0301 👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿'
    expect(SafeText.of(text).toString()).toBe(text)
  })

  test('has lines where a text has, and keeps its tabs', () => {
    expect(SafeText.lines('a\n\tb\r\nc\rd').map(String)).toEqual(['a', '\tb', 'c\\u000dd'])
  })
})

test('JSON parses to the same value and holds no such character', () => {
  fc.assert(
    fc.property(foreign, foreign, (name, value) => {
      const text = jsonText({ [`x${name}`]: [value] })
      expect(text).not.toMatch(HIDDEN)
      expect(JSON.parse(text)).toEqual({ [`x${name}`]: [value] })
    }),
  )
  expect(jsonText('\u001b\u009b\u202e')).toBe('"\\u001b\\u009b\\u202e"')
})
