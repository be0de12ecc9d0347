import { describe, expect, test } from 'bun:test'
import { requestRoot } from '../../engine/conditions/index.ts'
import type { EvaluatedRequest } from '../../engine/message/index.ts'
import { policyText } from '../policy.ts'
import { ORDER_KEY_CHARACTERS_MAX, orderKeyReader } from './orderKey.ts'

const requestOf = (body: string): EvaluatedRequest => ({
  endpointId: 'e',
  receivedAt: new Date(0),
  method: 'POST',
  path: '',
  queryString: 'shop=s1',
  headers: [['X-Account', 'acme']],
  contentType: 'application/json',
  body: new TextEncoder().encode(body),
  sizeBytes: body.length,
  bodyTruncated: false,
  ip: null,
  label: null,
  eventId: null,
  verification: null,
})

const keyBy = (by: string, body: string) =>
  orderKeyReader(policyText({ order: { by, onDeadLetter: 'continue' } }))?.(requestRoot(requestOf(body)))

describe('the key of an order', () => {
  test('is the text at the path', () => {
    expect(keyBy('body.customer.id', '{"customer":{"id":"cus_1"}}')).toBe('cus_1')
    expect(keyBy('body.id', '{"id":9007199254740993}')).toBe('9007199254740993')
    expect(keyBy('body.id', '{"id":{"a":[1,true]}}')).toBe('{"a":[1,true]}')
    expect(keyBy('headers.x-account', '{}')).toBe('acme')
    expect(keyBy('query.shop', '{}')).toBe('s1')
    expect(keyBy('endpoint', '{}')).toBe('endpoint')
  })

  test('is absent where the path leads nowhere, or to null', () => {
    expect(keyBy('body.customer.id', '{"customer":{}}')).toBeNull()
    expect(keyBy('body.customer.id', '{"customer":{"id":null}}')).toBeNull()
    expect(keyBy('body.customer.id', 'no JSON')).toBeNull()
    expect(orderKeyReader(null)).toBeNull()
  })

  test('is a digest where it is long, or could not be stored', () => {
    const long = 'x'.repeat(ORDER_KEY_CHARACTERS_MAX)
    expect(keyBy('body.id', JSON.stringify({ id: long }))).toBe(long)
    expect(keyBy('body.id', JSON.stringify({ id: `${long}x` }))).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(keyBy('body.id', '{"id":"a\\u0000b"}')).toMatch(/^sha256:[0-9a-f]{64}$/)
  })
})
