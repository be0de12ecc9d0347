import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  canonicalJson,
  canonicalText,
  fromPlain,
  JsonNumber,
  parseForLooks,
  parseJson,
  SentJson,
  sameJson,
  sameNumber,
  toPlain,
  writeJson,
} from './index.ts'

function roundTrip(text: string): string | undefined {
  const read = parseJson(text)
  return read && writeJson(read.value)
}

describe('reading and writing JSON', () => {
  test('digits, order of members and odd names survive', () => {
    const text = '{"b":1.0,"2":9007199254740993,"1":[1e400,-0,0.10,1E5],"__proto__":{"x":null},"":true}'
    expect(roundTrip(text)).toBe(text)
  })

  test('of duplicate names the last counts', () => {
    expect(roundTrip('{"a":1,"b":2,"a":3}')).toBe('{"a":3,"b":2}')
  })

  test('reads what JSON.parse reads, as JSON.parse reads it', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        const read = parseJson(text)
        expect(read).toBeDefined()
        expect(JSON.stringify(read && toPlain(read.value))).toBe(JSON.stringify(JSON.parse(text)))
      }),
    )
  })

  test('refuses what JSON.parse refuses', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      'a',
      '\\',
      'u00e9',
      '1',
      '-',
      '.',
      'e',
      ' ',
      '\n',
      'true',
      'null',
      '\u0000',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join('')
        let valid = true
        try {
          JSON.parse(text)
        } catch {
          valid = false
        }
        expect(parseJson(text) !== undefined).toBe(valid)
      }),
      { numRuns: 3000 },
    )
  })

  test('depth is bounded, not the stack', () => {
    expect(parseJson(`${'['.repeat(256)}${']'.repeat(256)}`)).toBeDefined()
    expect(parseJson(`${'['.repeat(257)}${']'.repeat(257)}`)).toBeUndefined()
    expect(parseJson('['.repeat(1_000_000))).toBeUndefined()
    expect(parseJson('{"a":'.repeat(1_000_000))).toBeUndefined()
  })

  test('lone surrogates and escapes come through', () => {
    expect(roundTrip('"\\ud800 \\u00e9 \\/ \\n"')).toBe('"\\ud800 é / \\n"')
  })

  test('a look at a number that no double reaches keeps its digits', () => {
    for (const text of ['1e400', '-2.5E+999', '10e0308'])
      for (const document of [text, `[${text}]`, `{"a":${text},"a":${text}\n}`, `[0,${text} ,1]`])
        expect(writeJson(parseForLooks(document)?.value)).toContain(text)
    expect(parseForLooks('["1e400", 4e500]')).toEqual({ value: ['1e400', new JsonNumber('4e500')] })
  })

  test('a look reads a number as its double prints it, whatever else the text holds', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 20 })
    const number = fc
      .tuple(fc.boolean(), digits, fc.option(digits), fc.option(fc.integer({ min: -330, max: 330 })))
      .map(([isNegative, whole, fraction, power]) => {
        const mantissa = `${isNegative ? '-' : ''}${BigInt(whole)}${fraction === null ? '' : `.${fraction}`}`
        return power === null ? mantissa : `${mantissa}e${power}`
      })
    fc.assert(
      fc.property(number, (text) => {
        const double: number = JSON.parse(text)
        const isHeld = sameNumber(double, new JsonNumber(text))
        const looked = parseForLooks(`[${text},12345678901234567890]`)?.value
        expect(looked).toEqual([
          isHeld ? double : new JsonNumber(text),
          new JsonNumber('12345678901234567890'),
        ])
      }),
      { numRuns: 1000, examples: [['-0'], ['5e-324'], ['1.50'], ['0e5'], ['1e-330'], ['1e309']] },
    )
  })

  test('fromPlain makes the same value as parsing the text', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value = fromPlain(JSON.parse(text), 256)
        const read = parseJson(JSON.stringify(JSON.parse(text)))
        expect(read !== undefined && value !== undefined && sameJson(value, read.value)).toBe(true)
      }),
    )
  })

  test('JSON.stringify prints an exact number with its digits', () => {
    expect(JSON.stringify({ id: new JsonNumber('9007199254740993') })).toBe('{"id":9007199254740993}')
  })
})

describe('equality', () => {
  const same = (left: string, right: string) => {
    const [a, b] = [parseJson(left), parseJson(right)]
    return a !== undefined && b !== undefined && sameJson(a.value, b.value)
  }

  test('numbers compare by value at any length', () => {
    expect(same('1', '1.0')).toBe(true)
    expect(same('1e2', '100.00')).toBe(true)
    expect(same('-0', '0')).toBe(true)
    expect(same('9007199254740993', '9007199254740992')).toBe(false)
    expect(same('1e999999999999', '10e999999999998')).toBe(true)
    expect(same('1', '"1"')).toBe(false)
    expect(same('1e-00000000000000000000000000000000000005', '1e-5')).toBe(true)
  })

  test('the order of members does not matter, that of items does', () => {
    expect(same('{"a":1,"b":[1,2]}', '{"b":[1,2.0],"a":1}')).toBe(true)
    expect(same('[1,2]', '[2,1]')).toBe(false)
    expect(same('{"a":null}', '{}')).toBe(false)
    expect(same('{"a":null}', '{"b":null}')).toBe(false)
  })

  test('canonical text is equal exactly for equal documents', () => {
    fc.assert(
      fc.property(fc.json(), fc.json(), (left, right) => {
        const [a, b] = [parseJson(left), parseJson(right)]
        if (a === undefined || b === undefined) throw new Error('fast-check made no JSON')
        expect(canonicalJson(a.value) === canonicalJson(b.value)).toBe(sameJson(a.value, b.value))
      }),
    )
  })

  test('canonical text is that of RFC 8785', () => {
    // RFC 8785 §3.2.2 and §3.2.3.
    expect(canonicalText('[1E30,4.50,2e-3,0.000000000000000000000000001,-0,56.0]')).toBe(
      '[1e+30,4.5,0.002,1e-27,0,56]',
    )
    expect(canonicalText('"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/"')).toBe(
      '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"',
    )
    expect(
      canonicalText('{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7}'),
    ).toBe('{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}')
  })

  test('numbers that no double holds stay apart', () => {
    const [left, right] = [parseJson('9007199254740993'), parseJson('9007199254740992')]
    expect(left && canonicalJson(left.value)).not.toBe(right && canonicalJson(right.value))
  })
})

describe('JSON of a call', () => {
  test('gives its parts as they were sent', () => {
    const sent = new SentJson(
      '{"condition": {"path":"body.id", "op":"eq", "value": 1.0}, "rules":[{"a":1},{"2":2,"1":1}]}',
    )
    expect(sent.part(['condition', 'value'])).toBe('1.0')
    expect(sent.part(['rules', 0])).toBe('{"a":1}')
    expect(sent.part(['rules', 1])).toBe('{"2":2,"1":1}')
    expect(sent.part(['rules', 2])).toBeUndefined()
    expect(new SentJson('{}').part(['condition'])).toBeUndefined()
    expect(new SentJson('{').part([])).toBeUndefined()
  })
})
