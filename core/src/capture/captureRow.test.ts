import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { EvaluatedRequest } from '../engine/message/capturedRequest.ts'
import { captureRow } from './captureRow.ts'

const rowOf = (members: Partial<EvaluatedRequest>) =>
  captureRow({
    endpointId: '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33',
    receivedAt: new Date(0),
    method: 'POST',
    path: '',
    queryString: null,
    headers: [],
    contentType: null,
    body: new Uint8Array(),
    sizeBytes: 0,
    bodyTruncated: false,
    ip: null,
    label: null,
    eventId: null,
    verification: null,
    ...members,
  })

const textOf = (text: string, bodyTruncated = false) => rowOf({ body: Buffer.from(text), bodyTruncated })

describe('captureRow', () => {
  test('a text body is text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 600 }), (text) => {
        fc.pre(!text.includes('\0'))
        expect(textOf(text).bodyIsBinary).toBe(false)
      }),
    )
  })

  test('any bytes make a row that Postgres can hold', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (body, bodyTruncated) => {
        const { bodyIsBinary } = rowOf({ body, bodyTruncated })
        if (body.includes(0)) expect(bodyIsBinary).toBe(true)
      }),
    )
  })

  test('an oversize prefix that ends inside a character is still text', () => {
    for (const end of [1, 2, 3]) {
      const body = Buffer.from('text 🎣').subarray(0, 5 + end)
      expect(rowOf({ body, bodyTruncated: true }).bodyIsBinary).toBe(false)
      expect(rowOf({ body }).bodyIsBinary).toBe(true)
    }
  })

  test('header names and values stand line by line, values as the bytes they were', () => {
    const row = rowOf({
      headers: [
        ['X-A', 'Zo\xeb'],
        ['x-a', ''],
        ['User-Agent', Buffer.from('Zoë/1').toString('latin1')],
      ],
    })
    expect(row).toMatchObject({
      headerNames: 'X-A\nx-a\nUser-Agent',
      headerValues: `Zo\xeb\n\n${Buffer.from('Zoë/1').toString('latin1')}`,
      userAgent: 'Zoë/1',
    })
  })
})
