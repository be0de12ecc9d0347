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
  /** Which of the shortcuts to its text it is: see {@link shortcutOf}. */
  readonly code: string
}

/** The code where there is no shortcut. */
export const NO_SHORTCUT = 'none'
const WHOLE = { asGiven: 'given', inLowerCase: 'lower' } as const
const PART = /^(\d{1,2})\.([1-4])$/

/**
 * The shortcut to a text by its code. It leaves the result of the search as it is, whatever the code says: so
 * callers may bring it back.
 *
 * @returns undefined for {@link NO_SHORTCUT}, and for a code that is none of this text
 */
export function shortcutOf(q: string, code: string): Shortcut | undefined {
  if (code === WHOLE.asGiven || code === WHOLE.inLowerCase) {
    if (!isAscii(q)) return undefined
    const spelling = code === WHOLE.asGiven ? q : q.toLowerCase()
    return { rules: 'in', spellings: [Buffer.from(spelling)], code }
  }
  const [, from, length] = PART.exec(code) ?? []
  const part = partAt(q, Number(from), Number(length))
  const spellings = part === undefined ? [] : spellingsOf(part)
  if (spellings.length === 0 || spellings.length > SPELLINGS_MAX) return undefined
  return { rules: 'out', spellings: spellings.map((spelling) => Buffer.from(spelling)), code }
}

/** A shortcut with its cost: octets of the samples that are searched, times the number of searches. */
interface Candidate {
  readonly code: string
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
  let best: Candidate = { code: NO_SHORTCUT, cost: lengthOf(requests.flat()) * LOWERING_COST }
  for (const one of [...ofWholeText(q, requests), ...ofParts(q, requests)])
    if (one.cost < best.cost) best = one
  return shortcutOf(q, best.code)
}

function ofWholeText(q: string, requests: readonly (readonly string[])[]): Candidate[] {
  if (!isAscii(q)) return []
  return [WHOLE.asGiven, WHOLE.inLowerCase].map((code) => {
    const spelling = code === WHOLE.asGiven ? q : q.toLowerCase()
    const others = requests.filter((parts) => !parts.some((text) => text.includes(spelling)))
    return { code, cost: lengthOf(requests.flat()) + lengthOf(others.flat()) * LOWERING_COST }
  })
}

/** Candidates from parts of the text, the longest first: of two with the same cost it rules out more requests. */
function ofParts(q: string, requests: readonly (readonly string[])[]): Candidate[] {
  const texts = requests.flat().map((text) => text.toLowerCase())
  const total = lengthOf(texts)
  const lengths = Array.from({ length: PART_LENGTH_MAX }, (_, shorter) => PART_LENGTH_MAX - shorter)
  return lengths.flatMap((length) =>
    Array.from({ length: Math.min(q.length, CHARACTERS_MAX) }, (_, from) => from).flatMap((from) => {
      const part = partAt(q, from, length)
      const spellings = part === undefined ? [] : spellingsOf(part)
      if (part === undefined || spellings.length > SPELLINGS_MAX) return []
      const holding = texts.filter((text) => text.includes(part))
      return { code: `${from}.${length}`, cost: total * spellings.length + lengthOf(holding) * LOWERING_COST }
    }),
  )
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0)
}

/** An ASCII part in lower case. Other letters may share their lower case with letters that are not listed here. */
function partAt(q: string, from: number, length: number): string | undefined {
  const part = q.slice(0, CHARACTERS_MAX).slice(from, from + length)
  return part.length === length && length > 0 && isAscii(part) ? part.toLowerCase() : undefined
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
