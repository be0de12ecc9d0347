/** A sequence of choices that a seed reproduces (mulberry32). */
export interface Random {
  readonly seed: number
  /** From 0 up to, but not including, `end`. */
  below(end: number): number
  /** True with this probability. */
  chance(probability: number): boolean
  pick<const Item>(items: readonly [Item, ...Item[]]): Item
}

/** @param seed any 32-bit number; printed by every fault test, so that a failure can be replayed */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (end: number) => Math.floor(next() * end)
  return {
    seed,
    below,
    chance: (probability) => next() < probability,
    pick: (items) => items[below(items.length)] ?? items[0],
  }
}
