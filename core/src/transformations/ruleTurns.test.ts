import { expect, test } from 'bun:test'
import { createRuleTurns } from './ruleTurns.ts'

/** Blocks for this long. */
function busy(milliseconds: number): void {
  for (const until = performance.now() + milliseconds; performance.now() < until; );
}

test('cheap rules run at once, in the same tick', async () => {
  const turns = createRuleTurns()
  const order: string[] = []
  void turns.run('w', 'a', () => order.push('rules'))
  order.push('after')
  expect(order).toEqual(['rules', 'after'])
})

test('expensive rules leave the event loop to others four fifths of the time', async () => {
  const turns = createRuleTurns()
  let ran = 0
  const expensive = () => {
    busy(8)
    ran += 1
  }
  await turns.run('w', 'a', expensive)
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: 5 }, () => turns.run('w', 'a', expensive)))
  expect(ran).toBe(6)
  // Five runs of 8 ms, each after a pause of 32 ms.
  expect(performance.now() - startedAt).toBeGreaterThan(5 * 8 * 4)
})

test('a cheap action does not wait behind an expensive one, and a fault is its own', async () => {
  const turns = createRuleTurns()
  await turns.run('w', 'slow', () => busy(10))
  const slow = turns.run('w', 'slow', () => {
    busy(10)
    throw new Error('of the slow one')
  })
  expect(await turns.run('w', 'quick', () => 'now')).toBe('now')
  expect(slow).rejects.toThrow('of the slow one')
  expect(await turns.run('w', 'slow', () => 'again')).toBe('again')
})

test('the expensive rules of a workspace wait for one of another, not for all', async () => {
  const turns = createRuleTurns()
  const order: string[] = []
  const run = (workspace: string, action: string) =>
    turns.run(workspace, action, () => {
      busy(6)
      order.push(workspace)
    })
  for (const action of ['1', '2', '3', '4', '5']) await run('many', action)
  await run('one', '1')
  order.length = 0
  await Promise.all([...['1', '2', '3', '4', '5'].map((action) => run('many', action)), run('one', '1')])
  expect(order.indexOf('one')).toBe(1)
})

test('after a wait of 20 s there is no rest: the attempt has a lease', async () => {
  let now = 0
  let passes = 0
  const turns = createRuleTurns(() => {
    now += passes
    return now
  })
  const takes = (milliseconds: number) => () => {
    now += milliseconds
  }
  await turns.run('w', 'a', takes(100_000))
  // The pause would be 400 s. This run starts after a wait of 20 s, which the clock has reached at its next call.
  passes = 20_000
  // A pause would outlast the test.
  expect(await turns.run('w', 'a', () => 'ran')).toBe('ran')
})
