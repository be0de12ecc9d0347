import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Turns } from './turns.ts'

/** Work that ends when it is told to. */
function held() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { work: () => promise, end: resolve }
}

/** What is due by now has happened after that. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('turns', () => {
  test('one key never waits for another, and who comes to a full line is refused', async () => {
    const turns = new Turns({ atOnce: 1, waitingMax: 1, refusal: () => new Error('full') })
    const first = held()
    const running = turns.run('a', first.work)
    const waiting = turns.run('a', () => 'second')
    expect(turns.run('a', () => 'third')).rejects.toThrow('full')
    expect(await turns.run('b', () => 'of another key')).toBe('of another key')
    first.end()
    await running
    expect(await waiting).toBe('second')
    expect(await turns.run('a', () => 'there is room again')).toBe('there is room again')
  })

  test('a caller who hangs up leaves the line, and one who has hung up does not join it', async () => {
    const turns = new Turns({ atOnce: 1, waitingMax: 1 })
    const first = held()
    const running = turns.run('a', first.work)
    const caller = new AbortController()
    const waiting = turns.run('a', () => 'never', caller.signal)
    caller.abort(new Error('hung up'))
    expect(waiting).rejects.toThrow('hung up')
    expect(turns.run('a', () => 'never', caller.signal)).rejects.toThrow('hung up')
    const next = turns.run('a', () => 'next')
    first.end()
    await running
    expect(await next).toBe('next')
  })

  test('what fails gives its turn on', async () => {
    const turns = new Turns({ atOnce: 1 })
    const failing = turns.run('a', () => {
      throw new Error('of its own')
    })
    const next = turns.run('a', () => 'next')
    expect(failing).rejects.toThrow('of its own')
    expect(await next).toBe('next')
  })

  test('whatever comes, goes and hangs up: never more than may run, in the order of arrival, and nobody is forgotten', () => {
    const event = fc.constantFrom('arrives', 'arrives', 'ends', 'hangs up')
    return fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(event, { maxLength: 60 }),
        async (atOnce, events) => {
          const turns = new Turns({ atOnce })
          const begun: number[] = []
          const running: (() => void)[] = []
          const left = new Set<number>()
          const callers: AbortController[] = []
          for (const what of events) {
            const waiting = callers.findLastIndex((_, at) => !begun.includes(at) && !left.has(at))
            if (what === 'arrives') {
              const { work, end } = held()
              const arrival = callers.push(new AbortController()) - 1
              const begin = () => {
                begun.push(arrival)
                running.push(end)
                return work()
              }
              turns.run('a', begin, callers[arrival]?.signal).catch(() => left.add(arrival))
            } else if (what === 'ends') running.shift()?.()
            else callers[waiting]?.abort()
            await settled()
            expect(running.length).toBeLessThanOrEqual(atOnce)
          }
          while (running.length > 0) {
            running.shift()?.()
            await settled()
          }
          expect(begun).toEqual([...callers.keys()].filter((arrival) => !left.has(arrival)))
        },
      ),
    )
  })
})
