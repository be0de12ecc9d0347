import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { LineTooLong, Turns } from './turns.ts'

/** Work that ends when `end` is called. */
function held() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { work: () => promise, end: resolve }
}

/** Resolves after everything that is due now has run. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('turns', () => {
  test('one key never waits for another', async () => {
    const turns = new Turns({ atOnce: 1 })
    const first = held()
    const running = turns.run('a', first.work)
    const waiting = turns.run('a', () => 'second')
    expect(await turns.run('b', () => 'of another key')).toBe('of another key')
    first.end()
    await running
    expect(await waiting).toBe('second')
  })

  test('keys that wait for room in all take turns, however many one has in line', async () => {
    const turns = new Turns({ atOnce: 2, inAll: 2 })
    const order: string[] = []
    const work = (name: string) => async () => {
      order.push(name)
      await settled()
    }
    const names = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1']
    await Promise.all(names.map((name) => turns.run(name.slice(0, 1), work(name))))
    expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4', 'a5'])
  })

  test('limits of sizes: small work runs together, large work alone, and none passes what waits', async () => {
    const turns = new Turns({ by: 'size', atOnce: 10, inAll: 15 })
    const order: string[] = []
    const ends = new Map<string, () => void>()
    const begin = (name: string, size: number) =>
      turns.run(
        name.slice(0, 1),
        async () => {
          order.push(name)
          const { work, end } = held()
          ends.set(name, end)
          await work()
        },
        { size },
      )
    const end = async (name: string) => {
      ends.get(name)?.()
      await settled()
    }
    const all = [
      begin('a1', 4),
      begin('a2', 6),
      begin('a3', 100),
      begin('a4', 1),
      begin('b1', 5),
      begin('b2', 5),
    ]
    await settled()
    expect(order).toEqual(['a1', 'a2', 'b1'])
    await end('a2')
    // The large piece waits for all of its key's room, and the small one behind it with it.
    expect(order).toEqual(['a1', 'a2', 'b1', 'b2'])
    await end('a1')
    expect(order).toEqual(['a1', 'a2', 'b1', 'b2'])
    await end('b1')
    expect(order).toEqual(['a1', 'a2', 'b1', 'b2', 'a3'])
    await end('b2')
    await end('a3')
    expect(order.at(-1)).toBe('a4')
    await end('a4')
    await Promise.all(all)
  })

  test('a caller who hangs up leaves the line, and one who has hung up does not join it', async () => {
    const turns = new Turns({ atOnce: 1 })
    const first = held()
    const running = turns.run('a', first.work)
    const caller = new AbortController()
    const waiting = turns.run('a', () => 'never', { signal: caller.signal })
    caller.abort(new Error('hung up'))
    expect(waiting).rejects.toThrow('hung up')
    expect(turns.run('a', () => 'never', { signal: caller.signal })).rejects.toThrow('hung up')
    const next = turns.run('a', () => 'next')
    first.end()
    await running
    expect(await next).toBe('next')
  })

  test('a line is as long as the work in it takes, and who is refused hears when a turn will come', async () => {
    let now = 0
    const turns = new Turns({ atOnce: 1, wait: { msMax: 1_000, noun: 'things' } }, () => now)
    // From now on a unit is expected to take 20 ms.
    const slow = () => {
      now += 20
    }
    for (let count = 0; count < 8; count += 1) await turns.run('a', slow, { kind: 'slow' })
    const caller = new AbortController()
    const options = { kind: 'slow', size: 10, signal: caller.signal }
    const first = held()
    const running = turns.run('a', first.work, options)
    const refusals: LineTooLong[] = []
    let waiting = 0
    for (; refusals.length < 2 && waiting < 100; waiting += 1) {
      turns
        .run('a', () => {}, options)
        .catch((error: unknown) => {
          if (error instanceof LineTooLong) refusals.push(error)
        })
      await settled()
    }
    const [refused, later] = refusals.map(({ waitMs }) => waitMs)
    // Work is refused only when the line is expected to take two seconds, and each refusal states a longer wait.
    expect(refused).toBeWithin(2_000, 4_000)
    expect(Number(later) - Number(refused)).toBeWithin(100, 1_000)
    expect(waiting).toBeLessThan(20)
    // Cheap work, work of an unknown kind, and another key are not refused.
    const cheap = Array.from({ length: 100 }, () => turns.run('b', () => 'served', { kind: 'cheap' }))
    expect(await Promise.all(cheap)).toHaveLength(100)
    caller.abort()
    first.end()
    await running
    expect(await turns.run('a', () => 'again', { kind: 'slow' })).toBe('again')
  })

  test('work that has waited as long as it may is refused, be its cost unknown', async () => {
    const turns = new Turns({ atOnce: 1, wait: { msMax: 20, noun: 'things' } })
    const first = held()
    const running = turns.run('a', first.work)
    expect(await turns.run('a', () => 'never').catch((error: unknown) => error)).toBeInstanceOf(LineTooLong)
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
              turns.run('a', begin, { signal: callers[arrival]?.signal }).catch(() => left.add(arrival))
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
