/** How many letters have to be changed, added or taken away to make one word of the other. */
export function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, at) => at)
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= right.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1)
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[right.length] ?? 0
}

/** How many close words an error names. */
const WORDS_MAX = 3

/** The words that are few letters away from the wanted one, or hold it, the nearest first; case does not count. */
export function closestWords(words: readonly string[], wanted: string): string[] {
  const word = wanted.toLowerCase()
  return words
    .map((known) => {
      const name = known.toLowerCase()
      const holds = word.length > 2 && (name.includes(word) || word.includes(name))
      return { known, distance: holds ? 0 : editDistance(name, word) }
    })
    .filter(({ distance }) => distance <= Math.max(1, Math.floor(word.length / 3)))
    .sort((left, right) => left.distance - right.distance)
    .slice(0, WORDS_MAX)
    .map(({ known }) => known)
}
