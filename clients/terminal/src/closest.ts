/** The number of letters to change, add or remove to turn one word into the other. */
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

/** Close words in one error message. */
const WORDS_MAX = 3

/** Words that contain the wanted one or differ by few letters, the nearest first, ignoring case. */
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
