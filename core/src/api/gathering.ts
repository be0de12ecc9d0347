import type { Db } from '../platform/db/index.ts'
import { stateOf } from '../platform/stateOf.ts'

interface Asking<Item, Result> {
  readonly item: Item
  readonly answer: PromiseWithResolvers<Result>
}

/**
 * Coalesces concurrent callers that ask the database for the same kind of thing. While a batch of a key is in flight,
 * further callers with that key join the next batch. So a single caller is not delayed, and no caller gets a result of
 * work that began before its call.
 *
 * @param work takes the items of all callers of a batch and returns a result for each, in their order; its error goes to
 *   all of them
 * @returns takes a caller's item under a key, which must name everything that the items of a batch have in common
 */
export function gathering<Item, Result>(
  work: (db: Db, items: readonly [Item, ...Item[]]) => Promise<readonly Result[]>,
): (db: Db, key: string, item: Item) => Promise<Result> {
  type Line = Asking<Item, Result>[]
  const linesOf = stateOf<Db, Map<string, Line>>(() => new Map())

  const serve = async (db: Db, line: Line, isServed: () => void) => {
    for (;;) {
      // Callers that are woken together within this turn of the event loop join one batch.
      await Promise.resolve()
      const together = line.splice(0)
      const [first, ...others] = together
      if (first === undefined) return isServed()
      try {
        const results = await work(db, [first.item, ...others.map(({ item }) => item)])
        for (const [index, result] of results.entries()) together[index]?.answer.resolve(result)
      } catch (error) {
        for (const { answer } of together) answer.reject(error)
      }
    }
  }

  return (db, key, item) => {
    const lines = linesOf(db)
    const answer = Promise.withResolvers<Result>()
    const line = lines.get(key)
    if (line === undefined) {
      const first = [{ item, answer }]
      lines.set(key, first)
      void serve(db, first, () => lines.delete(key))
    } else line.push({ item, answer })
    return answer.promise
  }
}
