import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isRecord, parsed, readJson } from './json.ts'

const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 20 })
const decimal = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits,
    fc.option(digits),
    fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'E-'), fc.nat(400))),
  )
  .map(([sign, whole, fraction, power]) =>
    [sign, BigInt(whole), fraction === null ? '' : `.${fraction}`, ...(power ?? [])].join(''),
  )

describe('JSON of the page', () => {
  test('is written back with the digits that were read', () => {
    fc.assert(
      fc.property(decimal, decimal, fc.string(), (first, second, other) => {
        const text = `{"other":${JSON.stringify(other)},"a":${first},"list":[${second},"x, ${second} "]}`
        expect(JSON.stringify(readJson(text))).toBe(text)
      }),
      { numRuns: 300 },
    )
  })

  test('has plain numbers where nothing is lost', () => {
    expect(readJson('[1,-2.5,1e+21,"9007199254740993",0.1]')).toEqual([
      1,
      -2.5,
      1e21,
      '9007199254740993',
      0.1,
    ])
  })

  test('takes a spelled number for no object, and other text for no JSON', () => {
    expect(isRecord(parsed('9007199254740993'))).toBe(false)
    expect(parsed('9007199254740993 x')).toBeUndefined()
    expect(parsed('{"a":1.0}}')).toBeUndefined()
  })
})
