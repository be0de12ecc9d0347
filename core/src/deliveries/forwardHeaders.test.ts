import { describe, expect, test } from 'bun:test'
import type { WireHeader } from '../engine/message/capturedRequest.ts'
import { forwardableHeaders } from '../engine/message/headers.ts'
import { creelHeaders, hopsOf } from './forwardHeaders.ts'
import { deliveryUuid } from './send.ts'

describe('forwardableHeaders', () => {
  test('keeps order, spelling, repeats and bytes of everything else', () => {
    const kept: WireHeader[] = [
      ['X-B', '1'],
      ['content-TYPE', 'application/json'],
      ['Cookie', 'a=1'],
      ['User-Agent', 'Stripe/1.0'],
      ['X-B', '\xff'],
      ['Authorization', 'Bearer x'],
      ['Content-Encoding', 'gzip'],
      ['X-Creel', 'no prefix'],
    ]
    expect(forwardableHeaders(kept)).toEqual(kept)
  })

  test.each([
    'Host',
    'CONNECTION',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Proxy-Authorization',
    'Proxy-Connection',
    'Expect',
    'Content-Length',
    'Accept-Encoding',
    'X-Forwarded-For',
    'X-Forwarded-Proto',
    'Forwarded',
    'Via',
    'X-Real-IP',
    'creel-hops',
    'Creel-Signature',
  ])('drops %s', (name) => {
    expect(forwardableHeaders([[name, 'x']])).toEqual([])
  })

  test('drops what Connection names', () => {
    expect(
      forwardableHeaders([
        ['Connection', 'close, X-Private'],
        ['x-private', '1'],
        ['X-Other', '2'],
      ]),
    ).toEqual([['X-Other', '2']])
  })
})

test('hopsOf takes the largest readable count', () => {
  expect(hopsOf([])).toBe(0)
  expect(
    hopsOf([
      ['Creel-Hops', '1'],
      ['creel-hops', '3'],
      ['creel-hops', 'x'],
    ]),
  ).toBe(3)
})

test('creelHeaders counts one hop more', () => {
  const headersOf = (eventId: string | null) => {
    const request = { eventId, headers: [['creel-hops', '1']] as const }
    return creelHeaders({ mark: () => 'o' }, { id: 7, requestId: 9, attemptNumber: 2, request }, 'u')
  }
  expect(Object.fromEntries(headersOf('évt_1'))).toEqual({
    'creel-attempt-id': '7',
    'creel-delivery-id': 'u',
    'creel-request-id': '9',
    // UTF-8 bytes, one character each.
    'creel-event-id': 'Ã©vt_1',
    'creel-attempt': '2',
    'creel-hops': '2',
    'creel-origin': 'o',
  })
  expect(headersOf(null).map(([name]) => name)).not.toContain('creel-event-id')
})

test('deliveryUuid is a version-5 UUID of request and action', () => {
  const id = deliveryUuid(1, 'a')
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(deliveryUuid(1, 'a')).toBe(id)
  expect(deliveryUuid(2, 'a')).not.toBe(id)
  expect(deliveryUuid(1, 'b')).not.toBe(id)
})
