import { describe, expect, test } from 'bun:test'
import { processorTime } from '../../../../../tests/support/processorTime.ts'
import { parseJson, writeJson } from '../../json/index.ts'
import { Fault } from '../language/fault.ts'
import type { Value } from '../language/values.ts'
import { FUNCTION_NAMES, functionNamed } from './index.ts'

const FACTS = { now: new Date('2026-11-21T09:15:01.500Z'), uuid: () => 'u', tick: () => undefined }

/** A result as JSON text, or the code of the fault; arguments are JSON text. */
function call(name: string, ...args: string[]): string {
  const values = args.map((text): Value => {
    const read = parseJson(text)
    if (read === undefined) throw new Error(`No JSON: ${text}`)
    return read.value
  })
  try {
    const result = functionNamed(name)?.call(values, FACTS)
    if (result === undefined) throw new Error(`No function ${name}`)
    return result instanceof Uint8Array ? 'bytes' : writeJson(result)
  } catch (error) {
    if (error instanceof Fault) return error.code
    throw error
  }
}

const CASES: readonly (readonly [name: string, args: readonly string[], result: string])[] = [
  ['concat', ['"a"', '1.50', 'true', 'null'], '"a1.50true"'],
  ['concat', ['[1]'], 'type'],
  ['lower', ['"ÄB"'], '"äb"'],
  ['upper', ['null'], '""'],
  ['trim', ['" a "'], '"a"'],
  ['replace', ['"a.b.c"', '"."', '"-"'], '"a-b-c"'],
  ['replace', ['"abc"', '""', '"-"'], '"abc"'],
  ['replace', ['"a$&a"', '"a"', '"$&"'], '"$&$&$&"'],
  ['substring', ['"h😀llo"', '1', '2'], '"😀l"'],
  ['substring', ['"hello"', '-3'], '"llo"'],
  ['substring', ['"hello"', '-30', '2'], '"he"'],
  ['substring', ['"hello"', '9'], '""'],
  ['substring', ['"hello"', '1', '-1'], '""'],
  ['substring', ['"hello"', '1', 'null'], '"ello"'],
  ['substring', ['"hello"', '1.5'], 'bad_number'],
  ['split', ['"a,b,,c"', '","'], '["a","b","","c"]'],
  ['split', ['"abc"', '""'], 'type'],
  ['split', [`"${','.repeat(1000)}"`, '","'], 'too_large'],
  ['join', ['["a",1,null,true]', '"-"'], '"a-1--true"'],
  ['join', ['[[1]]', '"-"'], 'type'],
  ['join', ['null', '"-"'], 'type'],
  ['padStart', ['7', '3', '"0"'], '"007"'],
  ['padStart', ['"😀"', '3', '"ab"'], '"ab😀"'],
  ['padStart', ['"x"', '201', '"0"'], 'too_large'],
  ['padStart', ['"x"', '5', '""'], '"x"'],
  ['length', ['"h😀"'], '2'],
  ['length', ['[1,2]'], '2'],
  ['length', ['{"a":1}'], '1'],
  ['length', ['null'], '0'],
  ['coalesce', ['null', 'false', '1'], 'false'],
  ['coalesce', ['null', 'null'], 'null'],
  ['toText', ['1.50'], '"1.50"'],
  ['toText', ['{}'], 'type'],
  ['toNumber', ['"12.50"'], '12.5'],
  ['toNumber', ['"9007199254740993"'], '9007199254740993'],
  ['toNumber', ['""'], 'bad_number'],
  ['toNumber', ['" 1"'], 'bad_number'],
  ['toNumber', ['"0x10"'], 'bad_number'],
  ['toNumber', ['null'], 'type'],
  ['toNumber', ['true'], 'type'],
  ['toNumber', ['1e5'], '100000'],
  ['toNumber', ['-0'], '0'],
  ['toNumber', ['1e1001'], 'bad_number'],
  ['toNumber', ['1e999999999999999999'], 'bad_number'],
  ['toNumber', ['1e-999999999'], 'bad_number'],
  ['toBoolean', ['"false"'], 'false'],
  ['toBoolean', ['true'], 'true'],
  ['toBoolean', ['1'], 'type'],
  ['add', ['0.1', '0.2'], '0.3'],
  ['add', ['9007199254740993', '"1"'], '9007199254740994'],
  ['add', ['"x"', '1'], 'bad_number'],
  ['multiply', ['12.5', '100'], '1250'],
  ['multiply', ['1e600', '1e600'], 'bad_number'],
  ['subtract', ['1', '1.1'], '-0.1'],
  ['divide', ['1', '3'], '0.33333333333333333333'],
  ['divide', ['10', '4'], '2.5'],
  ['divide', ['1', '0'], 'divide_by_zero'],
  ['modulo', ['-7', '3'], '-1'],
  ['modulo', ['1', '0.0'], 'divide_by_zero'],
  ['round', ['2.5'], '3'],
  ['round', ['-2.5'], '-3'],
  ['round', ['1.005', '2'], '1.01'],
  ['round', ['1', '11'], 'bad_number'],
  ['floor', ['-1.1'], '-2'],
  ['ceil', ['1.1'], '2'],
  ['abs', ['-1.50'], '1.5'],
  ['min', ['2', '"1"', '3'], '1'],
  ['max', ['2', '10'], '10'],
  ['sum', ['[1,"2",0.5]'], '3.5'],
  ['sum', ['[]'], '0'],
  ['sum', ['[null]'], 'type'],
  ['sum', ['null'], 'type'],
  ['parseJson', ['"{\\"a\\":1.0}"'], '{"a":1.0}'],
  ['parseJson', ['"{"'], 'bad_json'],
  ['parseJson', ['""'], 'bad_json'],
  ['toJson', ['{"a":[1.0,null]}'], '"{\\"a\\":[1.0,null]}"'],
  ['get', ['{"a":1}', '"a"'], '1'],
  ['get', ['{"a":1}', '"constructor"'], 'null'],
  ['get', ['[1,2]', '-1'], '2'],
  ['get', ['[1,2]', '"0"'], '1'],
  ['get', ['[1,2]', '"name"'], 'null'],
  ['get', ['[1,2]', '0.5'], 'null'],
  ['get', ['[1,2]', 'null'], 'null'],
  ['get', ['[1,2]', '[0]'], 'type'],
  ['get', ['null', '"a"'], 'null'],
  ['get', ['"text"', '0'], 'type'],
  ['first', ['[]'], 'null'],
  ['first', ['null'], 'null'],
  ['last', ['[1,2]'], '2'],
  ['count', ['null'], '0'],
  ['count', ['[1,2]'], '2'],
  ['count', ['"x"'], 'type'],
  ['base64Encode', ['"hi?>"'], '"aGk/Pg=="'],
  ['base64UrlEncode', ['"hi?>"'], '"aGk_Pg"'],
  ['hexEncode', ['"ÿ"'], '"c3bf"'],
  ['urlEncode', ['"a b/ü!\'()*~"'], '"a%20b%2F%C3%BC%21%27%28%29%2A~"'],
  ['base64Decode', ['"aGk_Pg"'], '"hi?>"'],
  ['base64UrlDecode', ['"aGk/Pg=="'], '"hi?>"'],
  ['base64Decode', ['"a"'], 'bad_encoding'],
  ['base64Decode', ['"a b="'], 'bad_encoding'],
  ['base64Decode', ['"/w=="'], 'bad_encoding'],
  ['hexDecode', ['"6869"'], '"hi"'],
  ['hexDecode', ['"6"'], 'bad_encoding'],
  ['hexDecode', ['"zz"'], 'bad_encoding'],
  ['urlDecode', ['"a%20b+c"'], '"a b+c"'],
  ['urlDecode', ['"%zz"'], 'bad_encoding'],
  ['urlDecode', ['"%ff"'], 'bad_encoding'],
  ['md5', ['"a"'], '"0cc175b9c0f1b6a831c399e269772661"'],
  ['sha1', ['"a"', '"base64"'], '"hvfkN/qlp/zhXR3cuerq6jd2Z7g="'],
  ['sha256', ['"a"', '"base64url"'], '"ypeBEsobvcr6wjGzmiPcTaeG7_gUfE5yuYB3ha_uSLs"'],
  [
    'sha512',
    ['""', '"hex"'],
    '"cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"',
  ],
  ['sha256', ['"a"', '"base32"'], 'type'],
  // RFC 4231, test case 2.
  [
    'hmacSha256',
    ['"what do ya want for nothing?"', '"Jefe"'],
    '"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"',
  ],
  [
    'hmacSha512',
    ['"what do ya want for nothing?"', '"Jefe"'],
    '"164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"',
  ],
  // RFC 2202, test case 2.
  ['hmacSha1', ['"what do ya want for nothing?"', '"Jefe"'], '"effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"'],
  ['now', [], '"2026-11-21T09:15:01.500Z"'],
  [
    'formatDate',
    ['"2026-11-21T09:15:01.5Z"', '"yyyy-MM-dd HH:mm:ss.SSS XXX"'],
    '"2026-11-21 09:15:01.500 Z"',
  ],
  [
    'formatDate',
    ['"2026-07-01T23:30:00Z"', '"dd.MM.yyyy HH:mm XXX"', '"Europe/Zurich"'],
    '"02.07.2026 01:30 +02:00"',
  ],
  ['formatDate', ['"2026-01-01T00:30:00+01:00"', '"yyyyMMdd"', '"America/St_Johns"'], '"20251231"'],
  ['formatDate', ['"2026-01-01T00:00:00Z"', '"XXX"', '"America/St_Johns"'], '"-03:30"'],
  ['formatDate', ['"2026-01-01T00:00:00Z"', '"q"'], 'bad_date'],
  ['formatDate', ['"2026-01-01T00:00:00Z"', '"yyyy"', '"Mars/Base"'], 'bad_date'],
  ['formatDate', ['"2026-02-30T00:00:00Z"', '"yyyy"'], 'bad_date'],
  ['formatDate', ['"1969-12-31T23:59:59.999Z"', '"ss.SSS"', '"Asia/Tokyo"'], '"59.999"'],
  ['toUnix', ['"2026-11-21T09:15:01.9Z"'], '1795252501'],
  ['toUnix', ['"1969-12-31T23:59:59.5Z"'], '-1'],
  ['toUnix', ['"2026-11-21T09:15:01.5019Z"', '"ms"'], '1795252501501'],
  ['toUnix', ['"2026-11-21"'], 'bad_date'],
  ['toUnix', ['"2026-11-21T09:15:01Z"', '"h"'], 'type'],
  ['fromUnix', ['1795252501'], '"2026-11-21T09:15:01.000Z"'],
  ['fromUnix', ['"1795252501500"', '"ms"'], '"2026-11-21T09:15:01.500Z"'],
  ['fromUnix', ['1e300'], 'bad_date'],
  ['addSeconds', ['"2026-11-21T09:15:01Z"', '-1.5'], '"2026-11-21T09:14:59.500Z"'],
  ['addSeconds', ['"9999-12-31T23:59:59Z"', '1'], 'bad_date'],
  ['uuid', [], '"u"'],
]

describe('functions', () => {
  test.each(CASES.map(([name, args, result]) => [name, args.join(', '), args, result] as const))(
    '%s(%s)',
    (name, _, args, result) => {
      expect(call(name, ...args)).toBe(result)
    },
  )

  test('each of the table has a case', () => {
    const covered = new Set(CASES.map(([name]) => name))
    expect(FUNCTION_NAMES.filter((name) => !covered.has(name))).toEqual([])
  })

  test('each says in a line what it does', () => {
    for (const name of FUNCTION_NAMES) expect(functionNamed(name)?.summary).toMatch(/^[^\n]+\.$/)
  })

  test('bytes go through concat, encoders, digests and MACs as they are', () => {
    const bytes = new Uint8Array([0xff, 0x00])
    const joined = functionNamed('concat')?.call(['a', bytes], FACTS)
    expect(joined).toEqual(Buffer.from([0x61, 0xff, 0x00]))
    expect(functionNamed('hexEncode')?.call([bytes], FACTS)).toBe('ff00')
    expect(() => functionNamed('lower')?.call([bytes], FACTS)).toThrow('bad_encoding')
  })

  test('hostile text takes linear time', () => {
    const text = 'a'.repeat(1_000_000)
    const find = `${'a'.repeat(4000)}b${'a'.repeat(4000)}`
    const used = processorTime()
    functionNamed('replace')?.call([text, find, 'x'], FACTS)
    functionNamed('split')?.call([text, find], FACTS)
    functionNamed('substring')?.call(['😀'.repeat(250_000), 1, 2], FACTS)
    expect(used()).toBeLessThan(3000)
  })
})
