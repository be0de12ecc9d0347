import { describe, expect, test } from 'bun:test'
import type { BodyReceiver } from '../http/exchange.ts'
import { type BodyShare, createBodyBudget } from './bodyBudget.ts'
import { type CapturedBody, receiveBody } from './capturedBody.ts'

const MEGABYTE = 1_000_000

/** A body that arrives as the test says. */
function arriving(bytesMax: number, share: BodyShare, whole?: string) {
  const ends: (CapturedBody | 'refused')[] = []
  let receiver: BodyReceiver | undefined
  receiveBody(
    {
      takeWhole: () => (whole === undefined ? undefined : Buffer.from(whole)),
      receive: (given) => {
        receiver = given
      },
    },
    { bytesMax, share },
    { onBody: (body) => ends.push(body), onRefused: () => ends.push('refused') },
  )
  return {
    ends,
    piece: (text: string) => receiver?.onData(Buffer.from(text)),
    end: () => receiver?.onEnd([]),
    abort: () => receiver?.onAbort(),
  }
}

const plentiful = () => createBodyBudget({ bytesMax: MEGABYTE, shareBytesMax: MEGABYTE }).open('e', null)

/** Whole and in pieces of three bytes: the same must come of it. */
function received(body: string, bytesMax: number) {
  const inOne = arriving(bytesMax, plentiful(), body)
  const inPieces = arriving(bytesMax, plentiful())
  for (let at = 0; at < body.length; at += 3) inPieces.piece(body.slice(at, at + 3))
  inPieces.end()
  expect(inPieces.ends).toEqual(inOne.ends)
  const [end] = inOne.ends
  if (end === undefined || end === 'refused') return end
  const { bytes, sizeBytes, truncated } = end
  return { bytes: Buffer.from(bytes).toString(), sizeBytes, truncated }
}

describe('receiveBody', () => {
  test('keeps a body up to the cap, and of a larger one a prefix and its size', () => {
    expect(received('12345', 5)).toEqual({ bytes: '12345', sizeBytes: 5, truncated: false })
    expect(received('123456', 5)).toEqual({ bytes: '12345', sizeBytes: 6, truncated: true })
    expect(received('', 5)).toEqual({ bytes: '', sizeBytes: 0, truncated: false })
  })

  test('keeps no more than 65536 bytes of an oversize body, however large the cap', () => {
    const body = received('x'.repeat(150_000), 100_000)
    expect(body).toMatchObject({ sizeBytes: 150_000, truncated: true })
    expect(body).toHaveProperty('bytes.length', 65_536)
  })

  test('refuses what the budget has no room for at once, until room is given back', () => {
    const budget = createBodyBudget({ bytesMax: 10, shareBytesMax: 10 })
    const first = budget.open('e', '192.0.2.1')
    expect(arriving(100, first, '12345678').ends).toMatchObject([{ sizeBytes: 8 }])
    const second = arriving(100, budget.open('e', '192.0.2.1'))
    second.piece('12')
    expect(second.ends).toEqual([])
    second.piece('345')
    expect(second.ends).toEqual(['refused'])
    first.release()
    expect(arriving(100, budget.open('e', '192.0.2.1'), '1234567890').ends).toMatchObject([{ sizeBytes: 10 }])
  })

  test('a sender that hangs up leaves nothing, and takes nothing of the budget', () => {
    const budget = createBodyBudget({ bytesMax: 10, shareBytesMax: 10 })
    const gone = arriving(100, budget.open('e', null))
    gone.piece('12345678')
    gone.abort()
    expect(gone.ends).toEqual([])
    expect(arriving(100, budget.open('e', null), '1234567890').ends).toMatchObject([{ sizeBytes: 10 }])
  })
})

describe('shares of the budget', () => {
  const budget = () => createBodyBudget({ bytesMax: 100, shareBytesMax: 10 })

  test('an endpoint that took its share leaves the others theirs, whoever sends to it', () => {
    const shared = budget()
    expect(shared.open('loud', '192.0.2.1').take(10)).toBe(true)
    expect(shared.open('loud', '192.0.2.2').take(1)).toBe(false)
    expect(shared.open('quiet', '192.0.2.2').take(10)).toBe(true)
  })

  test('an address that took its share leaves the others theirs, wherever it sends', () => {
    const shared = budget()
    expect(shared.open('a', '192.0.2.1').take(10)).toBe(true)
    expect(shared.open('b', '192.0.2.1').take(1)).toBe(false)
    expect(shared.open('b', '192.0.2.2').take(10)).toBe(true)
  })

  test('nothing is given back twice', () => {
    const shared = budget()
    const share = shared.open('a', '192.0.2.1')
    share.take(10)
    share.release()
    share.release()
    expect(shared.open('a', '192.0.2.1').take(11)).toBe(false)
  })
})
