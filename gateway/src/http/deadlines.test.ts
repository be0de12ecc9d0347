import { describe, expect, test } from 'bun:test'
import { BodyDeadline, UnsentDeadline } from './deadlines.ts'
import { connectionsAllowed } from './httpLimits.ts'

const BODY = {
  tickSeconds: 1,
  bodyGraceSeconds: 10,
  bodyWindowSeconds: 5,
  bodyBytesPerSecondMin: 1024,
  bodySeconds: 60,
}

/** The second at which a body of this rate is cut off; undefined when it is not within 100. */
function cutAfter(bytesPerSecond: number): number | undefined {
  const deadline = new BodyDeadline(BODY)
  deadline.begin()
  for (let second = 1; second <= 100; second += 1) {
    deadline.count(bytesPerSecond)
    if (deadline.isOver(false)) return second
  }
  return undefined
}

describe('BodyDeadline', () => {
  test('lets a body be slow for a while, and no longer', () => {
    expect(cutAfter(0)).toBe(15)
    expect(cutAfter(1000)).toBe(15)
  })

  test('lets no body take longer than the whole time, however fast it comes', () => {
    expect(cutAfter(2000)).toBe(61)
  })

  test('does not count the time in which we do not read', () => {
    const deadline = new BodyDeadline(BODY)
    deadline.begin()
    for (let second = 0; second < 1000; second += 1) expect(deadline.isOver(true)).toBe(false)
  })
})

const UNSENT = { tickSeconds: 1, unsentSeconds: 30, unsentBytesMax: 1000 }

/** The second at which a client is cut off that leaves this many bytes unread; undefined when it is not within 200. */
function cutWhileUnsent(bytesAt: (second: number) => number): number | undefined {
  const deadline = new UnsentDeadline(UNSENT)
  for (let second = 0; second <= 200; second += 1) if (deadline.isOver(bytesAt(second))) return second
  return undefined
}

describe('UnsentDeadline', () => {
  test('ends who takes nothing', () => {
    expect(cutWhileUnsent(() => 10)).toBe(31)
    expect(cutWhileUnsent(() => 0)).toBeUndefined()
  })

  test('leaves alone who takes a short answer slowly, and a long one fast', () => {
    expect(cutWhileUnsent((second) => Math.max(0, 900 - second))).toBeUndefined()
    expect(cutWhileUnsent((second) => Math.max(0, 50_000 - second * 500))).toBeUndefined()
  })

  test('ends who takes a long answer byte by byte', () => {
    expect(cutWhileUnsent((second) => 5000 - second)).toBe(31)
  })
})

test('connections leave descriptors for other things', () => {
  expect(connectionsAllowed(20_000)).toBe(17_952)
  expect(connectionsAllowed(1024)).toBe(768)
})
