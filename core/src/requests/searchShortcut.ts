/** Letters beyond ASCII whose lower case is one of ASCII, or begins with it: the Kelvin sign, and the dotted capital I. */
export const INTO_ASCII = [
  { letter: 'k', from: '\u212a' },
  { letter: 'i', from: '\u0130' },
] as const

/** Parts of a text are so long at most: a longer one hardly rules out more. */
const PART_LENGTH_MAX = 4
/** Parts are taken from so many first characters of a text. */
const CHARACTERS_MAX = 48
const SPELLINGS_MAX = 4
/** Putting a text into lower case and looking there takes as long as looking for so many spellings. */
const LOWERING_COST = 6

/** Bytes that are looked for before a sought text is: that takes several times as long, since its case is ignored. */
export interface Shortcut {
  /** `in`: a request with one of them in its headers or text matches; `out`: headers or text with none of them do not. */
  readonly rules: 'in' | 'out'
  readonly spellings: readonly Buffer[]
}

/** A shortcut with what a search takes by it, in octets of the samples that are looked through once. */
interface Candidate {
  readonly rules: 'in' | 'out'
  readonly spellings: readonly string[]
  readonly cost: number
}

/**
 * Chooses what spares a search most: a rare part of a sought text in every spelling that is the same without case, or the whole text
 * as most requests spell it. What a program sends is much the same each time, so a few requests tell which.
 *
 * @param samples some of the requests that are to be searched: of each, the parts that are searched as bytes
 * @returns undefined where looking for `q` at once takes as little
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

/** The longest first: of two that cost the same, it rules out more of what is not in the samples. */
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

/** In ASCII: beyond it, letters may meet others in lower case that nobody knows of here. */
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

/** Whether a text holds nothing beyond ASCII. */
export function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant.
  return /^[\x00-\x7f]*$/.test(text)
}
