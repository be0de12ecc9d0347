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

  test('a receiver that answered 410 Gone has ended a delivery before its retries', () => {
    const words = (count: number) =>
      wordsOf({ kind: 'delivery.parked', subjectName: 'B', count, reason: 'gone' }).message
    expect(words(1)).toBe('1 delivery ended because the receiver answered 410 Gone.')
    expect(words(3)).toBe(
      '3 deliveries became dead letters; the last because the receiver answered 410 Gone.',
    )
    expect(wordsOf({ kind: 'delivery.recovered', subjectName: 'B', count: 2, reason: null }).message).toBe(
      'A delivery succeeded. 2 deliveries became dead letters before and can be replayed.',
    )
  })

  test('requests that were deleted before their deliveries have ended the deliveries before their retries', () => {
    const words = (count: number, reason: string) =>
      wordsOf({ kind: 'delivery.parked', subjectName: 'B', count, reason }).message
    expect(words(1, 'evicted')).toBe(
      '1 delivery ended because its request was evicted at the limit of the plan.',
    )
    expect(words(3, 'evicted')).toBe(
      '3 deliveries became dead letters; the last because its request was evicted at the limit of the plan.',
    )
    expect(words(1, 'retention')).toBe('1 delivery ended because the retention of its request ended first.')
    expect(words(2, 'retention')).toBe(
      '2 deliveries became dead letters; the last because the retention of its request ended first.',
    )
  })

  test("a notify action's message is its template's, untouched", () => {
    expect(
      wordsOf({ kind: 'action.notify', subjectName: 'Tell finance', count: 1, reason: '*42* &amp; more' }),
    ).toEqual({ title: 'Tell finance', message: '*42* &amp; more' })
  })
})
