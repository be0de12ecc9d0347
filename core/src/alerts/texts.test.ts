import { describe, expect, test } from 'bun:test'
import { wordsOf } from './find.ts'

describe('wordsOf', () => {
  test('an alert of dead letters tells the running count and the last error', () => {
    expect(
      wordsOf({ kind: 'delivery.parked', subjectName: 'Billing', count: 3, reason: 'http_503' }),
    ).toEqual({
      title: 'Deliveries to Billing are dead letters',
      message: '3 deliveries ran out of retries; last error http_503.',
    })
  })

  test('one is one', () => {
    expect(wordsOf({ kind: 'delivery.parked', subjectName: 'B', count: 1, reason: null }).message).toBe(
      '1 delivery ran out of retries.',
    )
    expect(
      wordsOf({ kind: 'capture.rejected', subjectName: 'E', count: 1, reason: null }).message,
    ).toStartWith('1 capture was answered 429')
  })

  test("a notify action's message is its template's, untouched", () => {
    expect(
      wordsOf({ kind: 'action.notify', subjectName: 'Tell finance', count: 1, reason: '*42* &amp; more' }),
    ).toEqual({ title: 'Tell finance', message: '*42* &amp; more' })
  })
})
