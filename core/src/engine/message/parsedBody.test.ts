import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { processorTime } from '../../../../tests/support/processorTime.ts'
import { BODY_KINDS, JSON_DEPTH_MAX } from './bodyFormat.ts'
import {
  decodeComponent,
  jsonBody,
  kindOfBody,
  PARSED_BODY_BYTES_MAX,
  parsedBody,
  urlEncodedPairs,
} from './parsedBody.ts'

const of = (body: string | Uint8Array, contentType: string | null, bodyTruncated = false) => ({
  body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
  contentType,
  bodyTruncated,
})

describe('parsedBody', () => {
  test.each([
    ['application/json', 'json'],
    ['Application/JSON; charset=utf-8', 'json'],
    ['application/cloudevents+json', 'json'],
    ['text/json', 'json'],
    [null, 'json'],
    ['', 'json'],
    ['application/x-json', 'json'],
    ['application/x-www-form-urlencoded', 'json'],
    ['text/plain; charset=utf-8', 'json'],
    ['text/html', 'json'],
    ['APPLICATION/octet-stream', 'json'],
    ['application/jsonp', 'none'],
    ['application/xml', 'none'],
    ['image/png', 'none'],
    ['multipart/form-data; boundary=x', 'none'],
  ] as const)('content type %p reads {"a":1} as %s', (contentType, kind) => {
    expect(parsedBody(of('{"a":1}', contentType)).kind).toBe(kind)
  })

  test.each([
    ['[1]', 'json'],
    ['\ufeff \r\n\t{"a":1} ', 'json'],
    ['5', 'form'],
    ['"a"', 'form'],
    ['{"a":1', 'form'],
    ['[a]=1', 'form'],
    ['{}x', 'form'],
    ['a={"b":1}', 'form'],
    [`${'['.repeat(257)}${']'.repeat(257)}`, 'none'],
  ] as const)('called a form, %p is read as %s', (body, kind) => {
    expect(parsedBody(of(body, 'application/x-www-form-urlencoded')).kind).toBe(kind)
  })

  test.each(['5', '"a"', 'null', '{"a":1', 'a=1'])('called text, or nothing, %p leads nowhere', (body) => {
    expect(parsedBody(of(body, 'text/plain')).kind).toBe('none')
    expect(parsedBody(of(body, null)).kind).toBe('none')
  })

  test.each([
    ['{"a":1}', 'text/plain', 'json'],
    ['a=1', 'application/x-www-form-urlencoded', 'form'],
    ['--x--', 'multipart/form-data; boundary=x', 'multipart'],
    ['hello', 'application/json', 'text'],
    ['<a/>', 'application/xml', 'text'],
    [new Uint8Array([0xff, 1]), 'text/plain', 'binary'],
    ['', 'application/json', null],
  ] as const)('%p as %p is shown as %p', (body, contentType, kind) => {
    expect(kindOfBody(of(body, contentType))).toBe(kind)
    if (kind !== null) expect(BODY_KINDS).toContain(kind)
  })

  test('bytes that do not parse, that are not UTF-8, or that are none at all are nothing', () => {
    expect(parsedBody(of('{', 'application/json')).kind).toBe('none')
    expect(parsedBody(of(new Uint8Array([0x22, 0xff, 0x22]), 'application/json')).kind).toBe('none')
    expect(parsedBody(of('', 'application/json')).kind).toBe('none')
    expect(parsedBody(of('a=1', null)).kind).toBe('none')
  })

  test('an oversize trace is never parsed, even when its prefix happens to be JSON', () => {
    expect(parsedBody(of('{}', 'application/json', true)).kind).toBe('none')
  })

  test('of duplicate keys the last counts, and __proto__ is an ordinary member', () => {
    const { value } = parsedBody(of('{"a":1,"__proto__":{"b":2},"a":3}', 'application/json'))
    expect(Object.entries(value as object)).toEqual([
      ['a', 3],
      ['__proto__', { b: 2 }],
    ])
    const form = parsedBody(of('__proto__=1&a=2&a=3', 'application/x-www-form-urlencoded'))
    expect(Object.entries(form.value as object)).toEqual([
      ['__proto__', '1'],
      ['a', ['2', '3']],
    ])
  })

  test('depth 256 is read and depth 257 is not; brackets inside strings do not count', () => {
    const nested = (depth: number) => of('['.repeat(depth) + ']'.repeat(depth), 'application/json')
    expect(parsedBody(nested(JSON_DEPTH_MAX)).kind).toBe('json')
    expect(parsedBody(nested(JSON_DEPTH_MAX + 1)).kind).toBe('none')
    expect(parsedBody(of(JSON.stringify(`"\\${'['.repeat(400)}`), 'application/json')).kind).toBe('json')
  })

  test('1 MiB is read and one byte more is not', () => {
    const text = (bytes: number) => of(`"${'x'.repeat(bytes - 2)}"`, 'application/json')
    expect(parsedBody(text(PARSED_BODY_BYTES_MAX)).kind).toBe('json')
    expect(parsedBody(text(PARSED_BODY_BYTES_MAX + 1)).kind).toBe('none')
  })

  test('a body is parsed once, also for a copy of the request and for jsonBody', () => {
    const request = of('{"a":1}', 'application/json')
    expect(parsedBody({ ...request })).toBe(parsedBody(request))
    expect(jsonBody(request)).toBe(parsedBody(request))
  })

  test('no bytes and no content type make it throw', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.option(fc.string()), (bytes, contentType) => {
        parsedBody(of(bytes, contentType))
        parsedBody(of(bytes, 'application/json'))
        parsedBody(of(bytes, 'application/x-www-form-urlencoded'))
      }),
    )
  })
})

describe('urlEncodedPairs', () => {
  test('keeps order and repeats; + is a space; a bare name is empty; a bad escape stays as written', () => {
    expect(urlEncodedPairs('a=1&b=x+y%20z&&a=2&c&=v&d=%zz%41%ff%c3%a9&e=1=2')).toEqual([
      ['a', '1'],
      ['b', 'x y z'],
      ['a', '2'],
      ['c', ''],
      ['', 'v'],
      ['d', '%zzA%ffé'],
      ['e', '1=2'],
    ])
  })

  test('decodes well-formed characters only, and escapes once', () => {
    const kept = ['%', '%2', '%g0', '%c1%80', '%c3', '%c3a9', '%e0%80%80', '%ed%a0%80', '%f4%90%80%80', '%f5']
    for (const text of kept) expect(decodeComponent(`a${text}+b`)).toBe(`a${text} b`)
    expect(decodeComponent('%2525%2B%F0%9f%98%80%e2%82%ac%00😀+%df%BF')).toBe('%25+😀€\0😀 \u07ff')
  })

  test('decodes megabytes of escapes in a moment', () => {
    for (const unit of ['+', 'a+', 'a%20', 'a%c3%a9']) {
      const text = unit.repeat(4_000_000 / unit.length)
      const used = processorTime()
      decodeComponent(text)
      expect(used()).toBeLessThan(250)
    }
  })

  test('decodes what encodeURIComponent encodes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(decodeComponent(encodeURIComponent(text))).toBe(text)
      }),
    )
  })
})
