import { expect, test } from 'bun:test'
import { holdSeat, type Locks, type SeatSurroundings } from './seats.ts'

/** The locks of one browser, granted in order of request. */
function fakeLocks(): Locks & { readonly waiting: () => number } {
  const lines = new Map<string, (() => Promise<void>)[]>()
  const held = new Set<string>()
  const serve = (name: string) => {
    const next = held.has(name) ? undefined : lines.get(name)?.shift()
    if (next === undefined) return
    held.add(name)
    void next().then(() => {
      held.delete(name)
      serve(name)
    })
  }
  return {
    waiting: () => [...lines.values()].flat().length,
    request: (name, { signal }, hold) =>
      new Promise((resolve, reject) => {
        const run = async () => {
          await hold()
          resolve()
        }
        const line = lines.get(name) ?? []
        lines.set(name, line)
        line.push(run)
        signal?.addEventListener('abort', () => {
          if (!line.includes(run)) return
          line.splice(line.indexOf(run), 1)
          reject(new Error('aborted'))
        })
        queueMicrotask(() => serve(name))
      }),
    query: () =>
      Promise.resolve({ pending: [...lines].flatMap(([name, line]) => line.map(() => ({ name }))) }),
  }
}

/** A browser with some tabs and a clock that the test moves. */
function browser(tabCount: number, locks: Locks | undefined) {
  let due: { run: () => void; ms: number }[] = []
  const open = new Set<number>()
  const turns = new Map<number, number>()
  let most = 0
  const tab = (name: number) => {
    const around: SeatSurroundings = {
      locks,
      sleep: (ms) => new Promise((run) => due.push({ run, ms })),
      isFocused: () => name === 0,
    }
    return holdSeat(() => {
      open.add(name)
      turns.set(name, (turns.get(name) ?? 0) + 1)
      most = Math.max(most, open.size)
      return () => open.delete(name)
    }, around)
  }
  const leave = Array.from({ length: tabCount }, (_, name) => tab(name))
  return {
    leave,
    open,
    turns,
    most: () => most,
    waits: () => due.map(({ ms }) => ms),
    async turn() {
      const now = due
      due = []
      for (const { run } of now) run()
      await Bun.sleep(0)
    },
  }
}

test('eight tabs take turns at three streams, and each gets one', async () => {
  const { most, turn, turns } = browser(8, fakeLocks())
  for (let at = 0; at < 6; at += 1) await turn()
  expect(most()).toBe(3)
  expect(turns.size).toBe(8)
})

test('three tabs keep their streams, and one that closes leaves its seat to another', async () => {
  const locks = fakeLocks()
  const { leave, open, turn, turns, waits } = browser(3, locks)
  await turn()
  expect([...open].sort()).toEqual([0, 1, 2])
  await turn()
  expect([...turns.values()]).toEqual([1, 1, 1])
  expect(waits().sort()).toEqual([1500, 1500, 6000])
  leave[1]?.()
  await turn()
  expect([...open].sort()).toEqual([0, 2])
  expect(locks.waiting()).toBe(0)
})

test('without locks every tab has its stream at once', () => {
  const { leave, open } = browser(8, undefined)
  expect(open.size).toBe(8)
  leave[3]?.()
  expect(open.size).toBe(7)
})
