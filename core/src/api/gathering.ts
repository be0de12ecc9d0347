import type { Db } from '../platform/db/index.ts'

/** Does the work of all who ask under a key: a result for each, in their order. */
export type SharedWork<Item, Result> = (
  db: Db,
  items: readonly [Item, ...Item[]],
) => Promise<readonly Result[]>

interface Asking<Item, Result> {
  readonly item: Item
  readonly answer: PromiseWithResolvers<Result>
}

/**
 * Lets those who ask the database the same at the same time share its work: while a batch of a key is under way, who asks under
 * that key is of the next one. So nobody waits who asks alone, and nobody is answered by work that began before he asked.
 *
 * @param work must give as many results as there are items; what it throws, all of them hear
 * @returns asks under a key, which must name everything in which the items of a batch have to agree
 */
export function gathering<Item, Result>(
  work: SharedWork<Item, Result>,
): (db: Db, key: string, item: Item) => Promise<Result> {
  type Line = Asking<Item, Result>[]
  const lines = new WeakMap<Db, Map<string, Line>>()

  const serve = async (db: Db, line: Line, isServed: () => void) => {
    for (;;) {
      // Those who are woken together ask together: within this turn of the event loop.
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
    const ofDb = lines.get(db) ?? new Map<string, Line>()
    lines.set(db, ofDb)
    const answer = Promise.withResolvers<Result>()
    const line = ofDb.get(key)
    if (line === undefined) {
      const first = [{ item, answer }]
      ofDb.set(key, first)
      void serve(db, first, () => ofDb.delete(key))
    } else line.push({ item, answer })
    return answer.promise
  }
}
