import { describe, expect, test } from 'bun:test'
import { recordedBody } from './recordedBody.ts'

describe('recordedBody', () => {
  test('text is text, an empty body null', () => {
    expect(recordedBody(Buffer.from('{"ü":1}'), false)).toEqual({ body: '{"ü":1}', bodyIsBinary: false })
    expect(recordedBody(Buffer.alloc(0), false)).toEqual({ body: null, bodyIsBinary: false })
  })

  test.each([[[0xff, 0xfe]], [[0x61, 0x00]]])('%p is binary', (bytes) => {
    expect(recordedBody(Buffer.from(bytes), false)).toEqual({
      body: Buffer.from(bytes).toString('base64'),
      bodyIsBinary: true,
    })
  })

  test('a cut text ends at a whole character; one that was not cut is binary', () => {
    const partial = Buffer.from('a😀').subarray(0, 4)
    expect(recordedBody(partial, true)).toEqual({ body: 'a', bodyIsBinary: false })
    expect(recordedBody(partial, false).bodyIsBinary).toBe(true)
  })
})
