/** Numbers in [0, 1) that depend on the seed alone (mulberry32): the same seed gives the same replay on any machine. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** The items in a random order (Fisher–Yates). */
export function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  const mixed = [...items]
  for (let last = mixed.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1))
    const [one, two] = [mixed[last], mixed[other]]
    if (one !== undefined) mixed[other] = one
    if (two !== undefined) mixed[last] = two
  }
  return mixed
}

/** So many of the items, at most, chosen at random; they keep their order. */
export function sampleOf<Item>(items: readonly Item[], size: number, random: () => number): Item[] {
  if (items.length <= size) return [...items]
  const chosen = new Set(
    shuffled(
      items.map((_, index) => index),
      random,
    ).slice(0, size),
  )
  return items.filter((_, index) => chosen.has(index))
}
