import { describe, expect, test } from 'bun:test'
import { ERROR, TYPE } from 'undici/lib/llhttp/constants.js'

import wasm = require('undici/lib/llhttp/llhttp_simd-wasm.js')

import undici from 'undici/package.json'
import { Parser } from './llhttp.ts'

/**
 * llhttp is internal to undici, so any release may change it. After an upgrade of undici, compare what fails here with
 * llhttp.ts, run the suites of `gateway/src/http` and `tests/security/wire.test.ts`, and then put the new version here.
 */
const WRITTEN_FOR = '8.12.4'

describe('the llhttp of undici', () => {
  test('is of the release that this program was written for', () => {
    expect(undici.version).toBe(WRITTEN_FOR)
  })

  test('asks for the callbacks that it is given', () => {
    const imports = WebAssembly.Module.imports(new WebAssembly.Module(wasm)).map(
      ({ module, name, kind }) => `${module}.${name}: ${kind}`,
    )
    expect(imports.sort()).toEqual([
      'env.wasm_on_body: function',
      'env.wasm_on_header_field: function',
      'env.wasm_on_header_value: function',
      'env.wasm_on_headers_complete: function',
      'env.wasm_on_message_begin: function',
      'env.wasm_on_message_complete: function',
      'env.wasm_on_status: function',
      'env.wasm_on_url: function',
    ])
  })

  test('names requests and pauses by the same numbers', () => {
    expect([TYPE.REQUEST, ERROR.OK, ERROR.PAUSED]).toEqual([1, 0, 21])
  })

  test('reads a head and a chunked body, and stops behind each', () => {
    const parser = new Parser()
    parser.begin()
    const seen: string[] = []
    const head = ' HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n'
    const bytes = Buffer.from(`${head}3\r\nabc\r\n0\r\n\r\nNEXT`)
    const text = (at: number, length: number) => bytes.toString('latin1', at, at + length)
    const events = {
      onFieldName: (at: number, length: number) => seen.push(`name ${text(at, length)}`),
      onFieldValue: (at: number, length: number) => seen.push(`value ${text(at, length)}`),
      onHeadEnd: (keepAlive: boolean) => seen.push(`head ${keepAlive}`),
      onBody: (at: number, length: number) => seen.push(`body ${text(at, length)}`),
      onMessageEnd: () => seen.push('end'),
    }
    const first = parser.read(bytes, 0, bytes.length, events)
    expect(first).toEqual({ length: head.length, error: undefined })
    expect(parser.version).toBe(11)
    const second = parser.read(bytes, first.length, bytes.length, events)
    expect(second).toEqual({ length: bytes.length - head.length - 'NEXT'.length, error: undefined })
    expect(seen).toEqual([
      'name Host',
      'value h',
      'name Transfer-Encoding',
      'value chunked',
      'head true',
      'body abc',
      'end',
    ])
    parser.free()
  })

  test('says why bytes are no HTTP', () => {
    const parser = new Parser()
    parser.begin()
    const events = { onFieldName() {}, onFieldValue() {}, onHeadEnd() {}, onBody() {}, onMessageEnd() {} }
    const bytes = Buffer.from(' HTTP/1.1\r\nHost : h\r\n\r\n')
    expect(parser.read(bytes, 0, bytes.length, events).error).toBeString()
    parser.free()
  })
})
