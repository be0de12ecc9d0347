import { describe, expect, test } from 'bun:test'
import type { BodyReceiver } from '../http/exchange.ts'
import { type BodyShare, createBodyBudget } from './bodyBudget.ts'
import { type CapturedBody, receiveBody } from './capturedBody.ts'

const MEGABYTE = 1_000_000
/** Longer than a test. */
const WAIT_MS = 60_000

/** A body whose pieces arrive when the test sends them. */
function arriving(bytesMax: number, share: BodyShare, whole?: string) {
  const ends: (CapturedBody | 'refused')[] = []
  let receiver: BodyReceiver | undefined
  let isPaused = false
  receiveBody(
    {
      takeWhole: () => (whole === undefined ? undefined : Buffer.from(whole)),
      receive: (given) => {
        receiver = given
      },
      pause: () => {
        isPaused = true
      },
      resume: () => {
        isPaused = false
      },
    },
    { bytesMax, share },
    {
      onBody: (body) => ends.push(body),
      onRefused: () => ends.push('refused'),
      onError: (error) => expect(error).toBeUndefined(),
    },
  )
  return {
    ends,
    isPaused: () => isPaused,
    piece: (text: string) => receiver?.onData(Buffer.from(text)),
    end: () => receiver?.onEnd([]),
    abort: () => receiver?.onAbort(),
  }
}

const budgetOf = (bytesMax: number, shareBytesMax = bytesMax, waitMs = WAIT_MS) =>
  createBodyBudget({ bytesMax, shareBytesMax, waitMs })
const plentiful = () => budgetOf(MEGABYTE).open('e', null)
const occupy = (share: BodyShare, bytes: number) => expect(share.take(bytes)).toBe(true)
/** Lets promises settle and their callbacks run. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

/** Receives a body whole and in pieces of three bytes, and expects the same result. */
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

  test('what the budget has no room for waits until room is given back, unread', async () => {
    const budget = budgetOf(10)
    const [first, second] = [budget.open('e', '192.0.2.1'), budget.open('e', '192.0.2.1')]
    expect(arriving(100, first, '12345678').ends).toMatchObject([{ sizeBytes: 8 }])
    // One body may exceed the bound.
    expect(arriving(100, second, '12345678').ends).toMatchObject([{ sizeBytes: 8 }])
    const third = arriving(100, budget.open('e', '192.0.2.1'))
    third.piece('12')
    expect(third.isPaused()).toBe(true)
    third.end()
    const fourth = arriving(100, budget.open('e', '192.0.2.1'), '')
    await settled()
    expect(third.ends).toEqual([])
    second.release()
    await settled()
    expect(third.isPaused()).toBe(false)
    expect(third.ends).toMatchObject([{ sizeBytes: 2 }])
    expect(fourth.ends).toMatchObject([{ sizeBytes: 0 }])
  })

  test('bodies that fill their share together are completed one after the other', async () => {
    const budget = budgetOf(100, 40)
    const shares = Array.from({ length: 3 }, () => budget.open('e', null))
    const bodies = shares.map((share) => arriving(100, share))
    for (const body of bodies) body.piece('x'.repeat(13))
    for (const body of bodies) body.piece('x'.repeat(5))
    expect(bodies.map((body) => body.isPaused())).toEqual([false, true, true])
    for (const [index, body] of bodies.entries()) {
      await settled()
      expect(body.isPaused()).toBe(false)
      body.end()
      expect(body.ends).toMatchObject([{ sizeBytes: 18 }])
      shares[index]?.release()
    }
  })

  test('what finds no room in time is refused, and gives back what it took', async () => {
    const budget = budgetOf(10, 10, 1)
    const first = budget.open('e', null)
    occupy(first, 8)
    const exceeding = budget.open('e', null)
    occupy(exceeding, 8)
    const late = arriving(100, budget.open('e', null))
    late.piece('12')
    while (late.ends.length === 0) await settled()
    expect(late.ends).toEqual(['refused'])
    first.release()
    exceeding.release()
    expect(budget.open('e', null).take(10)).toBe(true)
  })

  test.each(['whole', 'in pieces'])(
    'an error of ours after the wait is reported once; the body was %s',
    async (way) => {
      const budget = budgetOf(10)
      const first = budget.open('e', null)
      occupy(first, 10)
      const exceeding = budget.open('e', null)
      occupy(exceeding, 10)
      const errors: unknown[] = []
      receiveBody(
        {
          takeWhole: () => (way === 'whole' ? Buffer.from('12') : undefined),
          receive: (receiver) => {
            receiver.onData(Buffer.from('12'))
            receiver.onEnd([])
          },
          pause: () => {},
          resume: () => {},
        },
        { bytesMax: 100, share: budget.open('e', null) },
        {
          onBody: () => {
            throw new RangeError('injected')
          },
          onRefused: () => {},
          onError: (error) => errors.push(error),
        },
      )
      first.release()
      exceeding.release()
      await settled()
      expect(errors).toEqual([new RangeError('injected')])
      expect(budget.open('e', null).take(10)).toBe(true)
    },
  )

  test('no more waits than a quarter of the bound', async () => {
    const budget = budgetOf(8)
    occupy(budget.open('e', null), 8)
    occupy(budget.open('e', null), 8)
    const waiting = arriving(100, budget.open('e', null), '12')
    const refused = arriving(100, budget.open('e', null), '1')
    await settled()
    expect({ waiting: waiting.ends, refused: refused.ends }).toEqual({ waiting: [], refused: ['refused'] })
  })

  test('a sender that hangs up leaves nothing, and takes nothing of the budget', async () => {
    const budget = budgetOf(10)
    const holder = budget.open('e', null)
    occupy(holder, 10)
    const exceeding = arriving(100, budget.open('e', null))
    exceeding.piece('12345678')
    const waiting = arriving(100, budget.open('e', null))
    waiting.piece('12')
    waiting.abort()
    exceeding.abort()
    await settled()
    expect([...exceeding.ends, ...waiting.ends]).toEqual([])
    holder.release()
    expect(arriving(100, budget.open('e', null), '1234567890').ends).toMatchObject([{ sizeBytes: 10 }])
    expect(budget.open('e', null).take(1)).toBe(true)
  })
})

describe('shares of the budget', () => {
  const budget = () => budgetOf(100, 10)
  const isTaken = (taken: true | Promise<boolean>) => taken === true

  test('an endpoint that took its share leaves the others theirs, whoever sends to it', () => {
    const shared = budget()
    expect(isTaken(shared.open('loud', '192.0.2.1').take(10))).toBe(true)
    expect(isTaken(shared.open('loud', '192.0.2.2').take(1))).toBe(true)
    expect(isTaken(shared.open('loud', '192.0.2.3').take(1))).toBe(false)
    expect(isTaken(shared.open('quiet', '192.0.2.3').take(10))).toBe(true)
  })

  test('an address that took its share leaves the others theirs, wherever it sends', () => {
    const shared = budget()
    expect(isTaken(shared.open('a', '192.0.2.1').take(10))).toBe(true)
    expect(isTaken(shared.open('b', '192.0.2.1').take(1))).toBe(true)
    expect(isTaken(shared.open('c', '192.0.2.1').take(1))).toBe(false)
    expect(isTaken(shared.open('c', '192.0.2.2').take(10))).toBe(true)
  })

  test('what waits for one limit and finds another one full waits for that', async () => {
    const shared = budget()
    const [ofEndpoint, ofAddress] = [shared.open('e', '192.0.2.1'), shared.open('f', '192.0.2.2')]
    for (const share of [ofEndpoint, ofAddress]) {
      occupy(share, 10)
      occupy(share, 1)
    }
    const both = arriving(100, shared.open('e', '192.0.2.2'), '12')
    ofEndpoint.release()
    await settled()
    expect(both.ends).toEqual([])
    ofAddress.release()
    await settled()
    expect(both.ends).toMatchObject([{ sizeBytes: 2 }])
  })

  test('nothing is given back twice', () => {
    const shared = budget()
    const share = shared.open('a', '192.0.2.1')
    occupy(share, 10)
    share.release()
    share.release()
    occupy(shared.open('a', '192.0.2.1'), 10)
    occupy(shared.open('a', '192.0.2.1'), 1)
    expect(isTaken(shared.open('a', '192.0.2.1').take(1))).toBe(false)
  })
})
