import { expect, test } from 'bun:test'
import { Evidence } from './evidence.ts'

const request = (body: string) => ({
  endpointId: '00000000-0000-4000-8000-000000000000',
  receivedAt: new Date(0),
  method: 'POST',
  path: '',
  queryString: null,
  headers: [],
  contentType: 'application/json',
  body: Buffer.from(body),
  sizeBytes: body.length,
  bodyTruncated: false,
  ip: null,
})

test('a number is the same text whatever else the body holds, and a long one keeps its digits', () => {
  const textsIn = (beside: string) => {
    const evidence = new Evidence(request(`{"amount":10.50,"whole":1.0,"beside":${beside}}`), '')
    return ['amount', 'whole', 'beside'].map((path) => evidence.jsonTexts(path)[0])
  }
  expect(textsIn('7')).toEqual(['10.5', '1', '7'])
  expect(textsIn('9007199254740993')).toEqual(['10.5', '1', '9007199254740993'])
})
