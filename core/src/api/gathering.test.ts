import { afterAll, describe, expect, test } from 'bun:test'
import { openDatabase } from '../platform/db/index.ts'
import { gathering } from './gathering.ts'

// Never connects: the work only gets it as an argument.
const database = openDatabase('postgres://nobody@localhost/none')
const { db } = database
afterAll(() => database.close())

/** Work that ends when the test says so, with the items that it got. */
function workAtHand() {
  const batches: { items: readonly number[]; end: PromiseWithResolvers<void> }[] = []
  const ask = gathering<number, number>(async (_db, items) => {
    const end = Promise.withResolvers<void>()
    batches.push({ items, end })
    await end.promise
    return items.map((item) => item * 10)
  })
  return { ask, batches }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('gathering', () => {
  test('who asks while a batch is under way is of the next one, and has his own result', async () => {
    const { ask, batches } = workAtHand()
    const first = ask(db, 'a', 1)
    await turn()
    const others = [ask(db, 'a', 2), ask(db, 'a', 3)]
    await turn()
    expect(batches.map(({ items }) => items)).toEqual([[1]])
    batches[0]?.end.resolve()
    expect(await first).toBe(10)
    await turn()
    expect(batches.map(({ items }) => items)).toEqual([[1], [2, 3]])
    batches[1]?.end.resolve()
    expect(await Promise.all(others)).toEqual([20, 30])
  })

  test('those who ask together are of one batch, those with another key are not', async () => {
    const { ask, batches } = workAtHand()
    const asked = [ask(db, 'a', 1), ask(db, 'a', 2), ask(db, 'b', 3)]
    await turn()
    for (const { end } of batches) end.resolve()
    expect(await Promise.all(asked)).toEqual([10, 20, 30])
    expect(batches.map(({ items }) => items)).toEqual([[1, 2], [3]])
  })

  test('work that fails does so for all of its batch, and for nobody else', async () => {
    const { ask, batches } = workAtHand()
    const failing = Promise.allSettled([ask(db, 'a', 1), ask(db, 'a', 2)])
    await turn()
    const next = ask(db, 'a', 3)
    batches[0]?.end.reject(new Error('away'))
    expect(await failing).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
    await turn()
    batches[1]?.end.resolve()
    expect(await next).toBe(30)
  })

  test('whoever asks again in the moment of an answer is heard', async () => {
    const ask = gathering<number, number>(async (_db, items) => items)
    const again = async (left: number): Promise<number> =>
      left === 0 ? 0 : await again(await ask(db, 'a', left - 1))
    expect(await again(100)).toBe(0)
    for (let hops = 0; hops < 20; hops += 1) {
      const answer = ask(db, 'a', 1)
      let late = answer
      for (let hop = 0; hop < hops; hop += 1) late = late.then((value) => value)
      expect(await late.then(() => ask(db, 'a', 2))).toBe(2)
    }
  })
})
