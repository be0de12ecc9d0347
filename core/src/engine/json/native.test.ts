import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { processorTime } from '../../../../tests/support/processorTime.ts'
import {
  isJsonNumber,
  memberOf,
  opened,
  parseForLooks,
  parseJson,
  parseLazily,
  sameNumber,
  writeJson,
} from './index.ts'
import { holdsMore, nestsDeeper, readNatively, writeNatively } from './native.ts'
import { withMaps, writeByHand } from './parse.ts'
import { readByHand } from './readByHand.ts'

const DEPTH = 256

const digits = fc.nat().map(String)
const number = fc.oneof(
  fc.constantFrom('0', '-0', '1.0', '1.50', '-0.5', '1e5', '2E-3', '1e400', '0.0000001', '0.000001'),
  fc.constantFrom('9007199254740993', '999999999999999', '123456789.123456', '1234567890.1', '0.1234567'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((double) => JSON.stringify(double)),
  fc.tuple(fc.integer(), digits).map(([whole, fraction]) => `${whole}.${fraction}`),
  fc.tuple(digits, digits).map(([left, right]) => `1${left}${right}`),
)
const string = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  // Text that looks like the numbers and marks of the search.
  fc.constantFrom(
    '",-0"',
    '": 1.0 "',
    '"[1e5]"',
    '"2026-11-21T09:15:10.120Z"',
    '"\\u0031"',
    '"\\/"',
    '"\\""',
  ),
)
const name = fc.oneof(
  fc.constantFrom('"1"', '"10"', '"2"', '"01"', '"3d"', '"\\u0032"', '"__proto__"', '"toJSON"', '"length"'),
  fc.constantFrom('"a"', '"b"', '"c"', '""', '"-1"', '"constructor"'),
  string,
)
const space = fc.constantFrom('', '', '', ' ', '\n\t', '\r\n  ')

/** JSON from outside: any spacing, spelling and order, duplicate names. */
const { value: jsonText } = fc.letrec<{ value: string; padded: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(number, string, fc.constantFrom('true', 'false', 'null')),
    fc.array(tie('padded'), { maxLength: 6 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(space, name, space, tie('padded')), { maxLength: 6 })
      .map(
        (members) =>
          `{${members.map(([before, key, after, value]) => `${before + key + after}:${value}`).join(',')}}`,
      ),
  ),
  padded: fc.tuple(space, tie('value'), space).map((parts) => parts.join('')),
}))

describe('JSON by the machine', () => {
  test('what it reads is what is read by hand: members, their order, digits', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const natively = readNatively(text, DEPTH)
        const byHand = readByHand(text, DEPTH)
        if (byHand === undefined) throw new Error('The generator made no JSON.')
        if (natively === undefined) return
        expect(withMaps(natively.value)).toEqual(byHand.value)
        expect(writeByHand(withMaps(natively.value))).toBe(writeByHand(byHand.value))
      }),
      { numRuns: 5000 },
    )
  })

  test('what it writes is what is written by hand, opened or not', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const maps = readByHand(text, DEPTH)?.value
        const byHand = writeByHand(maps)
        expect(writeNatively(maps) ?? byHand).toBe(byHand)
        const lazy = readNatively(text, DEPTH)?.value
        if (lazy !== undefined) expect([writeJson(lazy), writeJson(opened(lazy))]).toEqual([byHand, byHand])
      }),
      { numRuns: 3000 },
    )
  })

  test('it refuses exactly what is refused by hand, or leaves it', () => {
    fc.assert(
      fc.property(
        jsonText,
        fc.nat(),
        fc.constantFrom('', ',', '}', ']', '"', '0', '.', 'e', '\u0001'),
        (text, at, piece) => {
          const broken =
            text.slice(0, at % (text.length + 1)) + piece + text.slice((at + 1) % (text.length + 1))
          if (readByHand(broken, DEPTH) === undefined) expect(readNatively(broken, DEPTH)).toBeUndefined()
        },
      ),
      { numRuns: 3000 },
    )
  })

  test('it takes the bodies that senders send', () => {
    const sent =
      '{\n  "id": 90071992547, "amount": 12.5, "at": "2026-11-21T09:15:10.120Z", "line1": ["\\u00e9", -3, null]\n}'
    expect(readNatively(sent, DEPTH)).toBeDefined()
    expect(writeNatively(parseJson(sent)?.value)).toBe(
      '{"id":90071992547,"amount":12.5,"at":"2026-11-21T09:15:10.120Z","line1":["é",-3,null]}',
    )
  })

  test('it leaves long text in which many names differ, and reads that with the same names again and again', () => {
    const listOf = (nameOf: (at: number) => string) =>
      `[${Array.from({ length: 20_000 }, (_, at) => `{"${nameOf(at)}" : "a:b"}`).join(',')}]`
    const differ = listOf((at) => `n${at}`)
    expect(readNatively(differ, DEPTH)).toBeUndefined()
    expect(readNatively(`[${differ},"${'x'.repeat(500_000)}"]`, DEPTH)).toBeUndefined()
    expect(readNatively(`{${differ.replaceAll(/[[\]{}]/g, '')}}`, DEPTH)).toBeUndefined()
    const same = listOf((at) => `n${at % 100}`)
    expect(readNatively(same, DEPTH)).toBeDefined()
    for (const text of [differ, same]) {
      const read = parseForLooks(text)?.value
      expect(memberOf(Array.isArray(read) ? read[99] : undefined, 'n99')).toBe('a:b')
      expect(writeJson(parseLazily(text)?.value)).toBe(text.replaceAll(' ', ''))
    }
  })

  test('a look finds the number that is written, however it is spelled', () => {
    const digits = (maxLength: number) =>
      fc.string({ unit: fc.constantFrom(...'0000123456789'), minLength: 1, maxLength })
    const decimal = fc
      .tuple(
        fc.constantFrom('', '-'),
        digits(18),
        fc.option(digits(22)),
        fc.option(
          fc.tuple(
            fc.constantFrom('e', 'E', 'e+', 'e-', 'e-0'),
            fc.oneof(fc.nat(30), fc.integer({ min: 290, max: 345 }), fc.nat(99_999)),
          ),
        ),
      )
      .map(([sign, whole, fraction, power]) =>
        [sign, BigInt(whole), fraction === null ? '' : `.${fraction}`, ...(power ?? [])].join(''),
      )
    // Texts that look like the numbers of a search must not hide the one beside them.
    const beside = fc.oneof(string, decimal)
    const found = (document: string, name: string) => {
      const both = [parseForLooks(document), parseJson(document)].map((read) => memberOf(read?.value, name))
      return both.filter(isJsonNumber)
    }
    fc.assert(
      fc.property(decimal, beside, space, (text, other, gap) => {
        const document = `{"other":${other},${gap}"a":${gap}${text}${gap}}`
        const [looked, read] = found(document, 'a')
        if (looked === undefined || read === undefined) throw new Error('One of them is no number.')
        expect([text, sameNumber(looked, read)]).toEqual([text, true])
      }),
      {
        numRuns: 5000,
        examples: [
          ['1732867200.123456789', '1', ''],
          ['0.10000000000000001', '1', ''],
          ['1e-400', '1', ''],
          ['0.1e-320', '1', ''],
          ['5e-324', '1', ''],
          ['123456789012345e300', '1', ''],
          ['1732867200.1234567', '"9007199254740993"', '\n'],
        ],
      },
    )
  })

  test('values and different names are counted without reading', () => {
    const text = '{"a":[1,{"b":"x,y"}],"a":{"c\\"":2}}'
    expect(holdsMore(text, { values: 6, names: 3 })).toBe(false)
    expect(holdsMore(text, { values: 5, names: 3 })).toBe(true)
    expect(holdsMore(text, { values: 6, names: 2 })).toBe(true)
  })

  test('nesting is counted as it is read by hand', () => {
    fc.assert(
      fc.property(jsonText, fc.nat(8), (text, depthMax) => {
        expect(nestsDeeper(text, depthMax)).toBe(readByHand(text, depthMax) === undefined)
      }),
      { numRuns: 3000 },
    )
  })

  test('deep nesting is left alone before it is parsed', () => {
    for (const deep of [
      '['.repeat(3_000_000) + ']'.repeat(3_000_000),
      `${'{"]":'.repeat(1_000_000)}1${'}'.repeat(1_000_000)}`,
    ]) {
      const used = processorTime()
      expect(readNatively(deep, DEPTH)).toBeUndefined()
      expect(used()).toBeLessThan(500)
    }
  })
})
