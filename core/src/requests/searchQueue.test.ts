import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createSearchQueue } from './searchQueue.ts'

const idle = new AbortController().signal

describe('the search queue', () => {
  test('a second workspace never waits for the first', async () => {
    const queue = createSearchQueue({ perWorkspace: 1, waitingMax: 1 })
    await queue.join('a', idle)
    const waiting = queue.join('a', idle)
    expect(queue.join('a', idle)).toBeNull()
    expect(await queue.join('b', idle)).toBeFunction()
    expect(waiting).toBeInstanceOf(Promise)
  })

  test('a caller who hangs up leaves the queue', async () => {
    const queue = createSearchQueue({ perWorkspace: 1, waitingMax: 1 })
    const release = await queue.join('a', idle)
    const caller = new AbortController()
    const waiting = queue.join('a', caller.signal)
    caller.abort(new Error('hung up'))
    expect(waiting).rejects.toThrow('hung up')
    const next = queue.join('a', idle)
    release?.()
    expect(await next).toBeFunction()
  })

  test('whatever comes and goes, never more than allowed run, and nobody is forgotten', () => {
    return fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.boolean(), { maxLength: 60 }),
        async (perWorkspace, arrivals) => {
          const queue = createSearchQueue({ perWorkspace, waitingMax: 1000 })
          const held: (() => void)[] = []
          let begun = 0
          let running = 0
          let arrived = 0
          for (const arrives of arrivals) {
            if (arrives) {
              arrived += 1
              void queue.join('a', idle)?.then((release) => {
                begun += 1
                running += 1
                held.push(release)
              })
            } else if (held.length > 0) {
              running -= 1
              held.shift()?.()
            }
            await Promise.resolve()
            await Promise.resolve()
            expect(running).toBeLessThanOrEqual(perWorkspace)
          }
          while (held.length > 0) {
            running -= 1
            held.shift()?.()
            await Promise.resolve()
            await Promise.resolve()
          }
          expect(begun).toBe(arrived)
        },
      ),
    )
  })
})
