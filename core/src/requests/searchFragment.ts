/** Letters beyond ASCII whose lower case is one of ASCII, or begins with it: the Kelvin sign, and the dotted capital I. */
export const INTO_ASCII = [
  { letter: 'k', from: '\u212a' },
  { letter: 'i', from: '\u0130' },
] as const

/** Fragments are so long at most: a longer one hardly rules out more. */
const LENGTH_MAX = 4
/** Fragments are taken from so many first characters of a text. */
const CHARACTERS_MAX = 48
const SPELLINGS_MAX = 4
/** Putting a text into lower case and looking there takes as long as looking for so many spellings. */
const LOWERING_COST = 6

/** A part of a sought text: every spelling of it that is the same without case, in UTF-8. */
export type Fragment = readonly Buffer[]

/**
 * Chooses the part of a sought text by which most of what is searched is ruled out at the least cost: whatever holds `q`, case
 * ignored, holds one of its spellings as bytes. What a program sends is much the same each time, so a few requests tell which.
 *
 * @param samples some of the texts that are to be searched, as bytes
 * @returns undefined where looking for all of `q` at once costs as little
 */
export function rarestFragment(q: string, samples: readonly Buffer[]): Fragment | undefined {
  const texts = samples.map((bytes) => bytes.toString('latin1').toLowerCase())
  const total = lengthOf(texts)
  let lowest = total * LOWERING_COST
  let rarest: readonly string[] | undefined
  for (const part of partsOf(q.slice(0, CHARACTERS_MAX))) {
    const spellings = spellingsOf(part)
    if (spellings.length > SPELLINGS_MAX) continue
    const holding = texts.filter((text) => text.includes(part))
    const cost = total * spellings.length + lengthOf(holding) * LOWERING_COST
    if (cost >= lowest) continue
    lowest = cost
    rarest = spellings
  }
  return rarest?.map((spelling) => Buffer.from(spelling))
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0)
}

/** The longest first: of two that cost the same, it rules out more of what is not in the samples. */
function* partsOf(text: string): Iterable<string> {
  for (let length = LENGTH_MAX; length > 0; length -= 1) {
    for (let from = 0; from + length <= text.length; from += 1) {
      const part = text.slice(from, from + length)
      if (isAscii(part)) yield part.toLowerCase()
    }
  }
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
