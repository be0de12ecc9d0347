/**
 * Non-ASCII letters whose lower case is an ASCII letter or begins with one: the Kelvin sign and the dotted capital I.
 */
export const INTO_ASCII = [
  { letter: 'k', from: '\u212a' },
  { letter: 'i', from: '\u0130' },
] as const

/** The longest part of a text that is tried: a longer one hardly rules out more. */
const PART_LENGTH_MAX = 4
/** Parts are taken from this many first characters of a text. */
const CHARACTERS_MAX = 48
const SPELLINGS_MAX = 4
/** Cost of a search in lower case, relative to a search for one spelling in the bytes. */
const LOWERING_COST = 6

/**
 * A cheap search for bytes that comes before the search for the text, which takes several times as long without case.
 */
export interface Shortcut {
  /** `in`: a request with one of the spellings matches. `out`: headers or text without any of them do not match. */
  readonly rules: 'in' | 'out'
  readonly spellings: readonly Buffer[]
}

/** A shortcut with its cost: octets of the samples that are searched, times the number of searches. */
interface Candidate {
  readonly rules: 'in' | 'out'
  readonly spellings: readonly string[]
  readonly cost: number
}

/**
 * Chooses the cheapest shortcut for a search: a rare part of the text in all its spellings, or the whole text in the
 * spelling of most requests. Programs send similar requests each time, so a few samples are enough to choose.
 *
 * @param samples some of the requests to search: of each, the parts that are searched as bytes
 * @returns undefined if a search for `q` itself costs no more
 */
export function cheapestShortcut(q: string, samples: readonly (readonly Buffer[])[]): Shortcut | undefined {
  const requests = samples.map((parts) => parts.map((bytes) => bytes.toString('latin1')))
  let best: Candidate = { rules: 'out', spellings: [], cost: lengthOf(requests.flat()) * LOWERING_COST }
  for (const one of [...ofWholeText(q, requests), ...ofParts(q, requests)])
    if (one.cost < best.cost) best = one
  const { rules, spellings } = best
  if (spellings.length === 0) return undefined
  return { rules, spellings: spellings.map((spelling) => Buffer.from(spelling)) }
}

function ofWholeText(q: string, requests: readonly (readonly string[])[]): Candidate[] {
  if (!isAscii(q)) return []
  return [q, q.toLowerCase()].map((spelling) => {
    const others = requests.filter((parts) => !parts.some((text) => text.includes(spelling)))
    const cost = lengthOf(requests.flat()) + lengthOf(others.flat()) * LOWERING_COST
    return { rules: 'in', spellings: [spelling], cost }
  })
}

/** Candidates from parts of the text, the longest first: of two with the same cost it rules out more requests. */
function ofParts(q: string, requests: readonly (readonly string[])[]): Candidate[] {
  const texts = requests.flat().map((text) => text.toLowerCase())
  const total = lengthOf(texts)
  return partsOf(q.slice(0, CHARACTERS_MAX)).flatMap((part) => {
    const spellings = spellingsOf(part)
    if (spellings.length > SPELLINGS_MAX) return []
    const holding = texts.filter((text) => text.includes(part))
    return { rules: 'out', spellings, cost: total * spellings.length + lengthOf(holding) * LOWERING_COST }
  })
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0)
}

/** All ASCII parts in lower case. Other letters may share their lower case with letters that are not listed here. */
function partsOf(text: string): string[] {
  const lengths = Array.from({ length: PART_LENGTH_MAX }, (_, shorter) => PART_LENGTH_MAX - shorter)
  const parts = lengths.flatMap((length) =>
    Array.from({ length: Math.max(0, text.length - length + 1) }, (_, from) =>
      text.slice(from, from + length),
    ),
  )
  return parts.filter(isAscii).map((part) => part.toLowerCase())
}

function spellingsOf(part: string): string[] {
  return [...part].reduce<string[]>(
    (before, letter) => {
      const beyond = INTO_ASCII.filter((one) => one.letter === letter).map(({ from }) => from)
      const each = new Set([letter, letter.toUpperCase(), ...beyond])
      return [...each].flatMap((one) => before.map((begun) => begun + one))
    },
    [''],
  )
}

export function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant.
  return /^[\x00-\x7f]*$/.test(text)
}
