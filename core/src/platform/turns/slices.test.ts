import { describe, expect, test } from 'bun:test'
import { inSlices } from './slices.ts'

const STEP_MS = 1
const STEPS = 60

/** Work of some steps that keep the processor busy. */
function* work(onStep: () => void): Generator<undefined, string, undefined> {
  for (let step = 0; step < STEPS; step += 1) {
    const endsAt = performance.now() + STEP_MS
    while (performance.now() < endsAt);
    onStep()
    yield
  }
  return 'done'
}

describe('work in slices', () => {
  test('lets the event loop turn in between, and two such works take turns', async () => {
    let turns = 0
    let isOver = false
    const turn = () => {
      turns += 1
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    const order: string[] = []
    const results = await Promise.all(['a', 'b'].map((name) => inSlices(work(() => order.push(name)))))
    isOver = true
    expect(results).toEqual(['done', 'done'])
    // A slice takes 5 ms and one step.
    expect(turns).toBeGreaterThanOrEqual((2 * STEPS * STEP_MS) / (5 + STEP_MS) / 2)
    const changes = order.filter((name, at) => name !== order[at - 1]).length
    expect(changes).toBeGreaterThan(6)
  })

  test('passes on what the work throws, and goes on with the next', async () => {
    const failing = function* (): Generator<undefined, string, undefined> {
      yield
      throw new Error('of its own')
    }
    expect(inSlices(failing())).rejects.toThrow('of its own')
    expect(await inSlices(work(() => {}))).toBe('done')
  })
})
