import { describe, expect, test } from 'bun:test'
import { createEvaluationTurns, type Evaluation, type Sender } from './evaluationTurns.ts'

const MIB = 1_048_576
const isGivenUp = (result: unknown) =>
  typeof result === 'object' && result !== null && 'retryAfterSeconds' in result

/** Keeps the event loop busy for some milliseconds. */
function busy(milliseconds: number): void {
  for (const until = performance.now() + milliseconds; performance.now() < until; );
}

/** An evaluation in several pieces, each of which does `work`. */
function evaluation(
  workspaceId: string,
  { pieces, work, bytes = 1000 }: { pieces: number; work: () => void; bytes?: number },
): Evaluation<string> {
  function* run() {
    for (let piece = 1; piece < pieces; piece += 1) {
      work()
      yield
    }
    work()
    return `of ${workspaceId}`
  }
  return { workspaceId, units: 1000, bytes, pieces: run() }
}

/** A sender whose connection changes on command. */
function caller() {
  let peer: Sender['peer'] = 'open'
  let listener = () => {}
  const sender: Sender = {
    get peer() {
      return peer
    },
    onHangUp: (given) => (listener = given),
  }
  const become = (state: Sender['peer']) => {
    peer = state
    listener()
  }
  return { sender, halfClose: () => become('half-closed'), hangUp: () => become('gone') }
}

/** A clock that advances only with the work. */
function workClock() {
  let now = 0
  return { clock: () => now, takes: (milliseconds: number) => () => (now += milliseconds) }
}

describe('evaluations take turns', () => {
  test('one of a workspace with credit is evaluated at once, without a promise', () => {
    const { clock, takes } = workClock()
    const turns = createEvaluationTurns(clock)
    expect(turns.run(evaluation('a', { pieces: 3, work: takes(2) }))).toBe('of a')
  })

  test('a long one leaves the event loop to others between its slices', async () => {
    const turns = createEvaluationTurns()
    let ticks = 0
    const ticking = setInterval(() => {
      ticks += 1
    }, 1)
    const result = turns.run(evaluation('a', { pieces: 30, work: () => busy(3) }))
    expect(result).toBeInstanceOf(Promise)
    expect(await result).toBe('of a')
    clearInterval(ticking)
    // 90 ms of work, in slices of at least 8 ms.
    expect(ticks).toBeGreaterThanOrEqual(5)
  })

  test('a workspace that has used its share waits until its share has grown again; another one does not', async () => {
    const { clock, takes } = workClock()
    const turns = createEvaluationTurns(clock)
    expect(turns.run(evaluation('a', { pieces: 1, work: takes(210) }))).toBe('of a')
    const startedAt = performance.now()
    const waiting = turns.run(evaluation('a', { pieces: 1, work: takes(1) }))
    expect(waiting).toBeInstanceOf(Promise)
    expect(turns.run(evaluation('b', { pieces: 1, work: takes(1) }))).toBe('of b')
    expect(await waiting).toBe('of a')
    // It used 210 ms, had a credit of 100 ms and earned 70 ms meanwhile: it waits for 40 ms at a third of the event
    // loop.
    expect(performance.now() - startedAt).toBeGreaterThan(100)
  })

  test('those of one workspace run in the order in which they came', async () => {
    const turns = createEvaluationTurns()
    const order: string[] = []
    const add = (pieces: number) =>
      turns.run(evaluation('a', { pieces, work: () => busy(pieces > 1 ? 5 : 0) }))
    const long = Promise.resolve(add(8)).then(() => order.push('long'))
    const short = Promise.resolve(add(1)).then(() => order.push('short'))
    await Promise.all([long, short])
    expect(order).toEqual(['long', 'short'])
  })

  test('a fault is its own, and the next has its turn', async () => {
    const turns = createEvaluationTurns()
    let piece = 0
    const faulty = turns.run(
      evaluation('a', {
        pieces: 9,
        work: () => {
          busy(9)
          piece += 1
          if (piece === 2) throw new Error('its own')
        },
      }),
    )
    const next = turns.run(evaluation('a', { pieces: 1, work: () => {} }))
    expect(faulty).rejects.toThrow('its own')
    expect(await next).toBe('of a')
  })
})

describe('what waits is bounded', () => {
  test('by the expected wait, of which the refusal tells', async () => {
    const { clock, takes } = workClock()
    const turns = createEvaluationTurns(clock)
    const first = turns.run(evaluation('a', { pieces: 2, work: takes(7000) }))
    // The same work again, and a debt of 7 s less the credit earned meanwhile, at a third of the event loop.
    expect(await turns.run(evaluation('a', { pieces: 1, work: takes(1) }))).toEqual({
      state: 'unavailable',
      retryAfterSeconds: 35,
    })
    expect(turns.run(evaluation('b', { pieces: 1, work: takes(1) }))).toBe('of b')
    turns.close()
    expect(await first).toSatisfy(isGivenUp)
  })

  test('by the bytes that they hold, workspace by workspace', async () => {
    const turns = createEvaluationTurns()
    const long = (workspaceId: string, bytes: number) =>
      turns.run(evaluation(workspaceId, { pieces: 100, work: () => busy(9), bytes }))
    const first = long('a', 20 * MIB)
    const second = long('a', 12 * MIB)
    expect(await long('a', 1)).toSatisfy(isGivenUp)
    const other = long('b', 32 * MIB)
    turns.close()
    for (const result of await Promise.all([first, second, other])) expect(result).toSatisfy(isGivenUp)
  })

  test('a sender that hangs up leaves the line, and stops what runs for it', async () => {
    const turns = createEvaluationTurns()
    let ran = 0
    const work = () => {
      busy(9)
      ran += 1
    }
    const [running, waiting] = [caller(), caller()]
    const first = turns.run(evaluation('a', { pieces: 1000, work }), running.sender)
    const second = turns.run(evaluation('a', { pieces: 1000, work }), waiting.sender)
    const last = turns.run(evaluation('a', { pieces: 1, work }))
    waiting.hangUp()
    expect(await second).toSatisfy(isGivenUp)
    running.hangUp()
    expect(await first).toSatisfy(isGivenUp)
    expect(await last).toBe('of a')
    expect(ran).toBeLessThan(20)
  })

  test('a sender that half-closes keeps its place in the line, and what runs for it', async () => {
    const turns = createEvaluationTurns()
    const [running, waiting] = [caller(), caller()]
    const first = turns.run(evaluation('a', { pieces: 3, work: () => busy(9) }), running.sender)
    const second = turns.run(evaluation('a', { pieces: 1, work: () => {} }), waiting.sender)
    waiting.halfClose()
    running.halfClose()
    expect(await Promise.all([first, second])).toEqual(['of a', 'of a'])
  })

  test('a sender that has gone before does not join the line', async () => {
    const turns = createEvaluationTurns()
    const first = turns.run(evaluation('a', { pieces: 30, work: () => busy(9) }))
    let ran = 0
    const gone = { peer: 'gone' as const, onHangUp: () => {} }
    const second = turns.run(evaluation('a', { pieces: 1, work: () => (ran += 1) }), gone)
    expect(await second).toSatisfy(isGivenUp)
    expect(await first).toBe('of a')
    expect(ran).toBe(0)
  })
})
