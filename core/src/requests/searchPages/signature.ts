import { INTO_ASCII } from '../searchShortcut.ts'

/** Octets of a part of a text. A text needs a run of so many ASCII characters to be looked up. */
const PART_BYTES = 5
const SLOT_BITS = 18
/** Slots of a signature: the values of a part's hash. */
export const SLOTS = 1 << SLOT_BITS
export const PAGE_BLOCKS = { small: 32, merged: 512 } as const
/** Octets of a slice: the unit in which the slots of a page are stored. */
export const SLICE_BYTES = 1024
/** The most parts of a text that are looked up. */
const LOOKED_UP_MAX = 16

const WORD_BITS = 32

/** Signature of a block of requests: one bit for each slot. */
export type Bitmap = Uint32Array

/** A signature without parts. */
export function emptyBitmap(): Bitmap {
  return new Uint32Array(SLOTS / WORD_BITS)
}

const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte))

const SPELLINGS = INTO_ASCII.map(({ letter, from }) => ({ letter, from: Buffer.from(from) }))

/**
 * Marks every part of a text, with ASCII letters in lower case. PostgreSQL's lower case of the letters in
 * {@link INTO_ASCII} is ASCII, so a text that has them is marked as it is and with these letters replaced.
 *
 * @param text UTF-8, or bytes of which only ASCII is searched
 */
export function mark(bitmap: Bitmap, text: Buffer): void {
  markBytes(bitmap, text)
  const there = SPELLINGS.filter(({ from }) => text.includes(from))
  if (there.length === 0) return
  const replaced = there.reduce(
    (before, { letter, from }) => before.replaceAll(from.toString('latin1'), letter),
    text.toString('latin1'),
  )
  markBytes(bitmap, Buffer.from(replaced, 'latin1'))
}

function markBytes(bitmap: Bitmap, text: Uint8Array): void {
  let lastFour = 0
  // An iterator would take six times as long.
  for (let at = 0; at < text.length; at += 1) {
    const byte = LOWER[text[at] ?? 0] ?? 0
    const slot = slotOf(lastFour, byte)
    bitmap[slot >>> 5] = (bitmap[slot >>> 5] ?? 0) | (1 << (slot & 31))
    lastFour = (lastFour << 8) | byte
  }
}

/** @param lastFour the four octets before `byte` */
function slotOf(lastFour: number, byte: number): number {
  return (Math.imul(lastFour, 0x9e3779b1) ^ Math.imul(byte + 1, 0x85ebca6b)) >>> (32 - SLOT_BITS)
}

/**
 * Slots that {@link mark} has set for every text that contains `q` without case; none if `q` cannot be looked up. Slots of a
 * long text are spread over all of it, because a common beginning says nothing.
 */
export function slotsOf(q: string): number[] {
  const slots = new Set<number>()
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant.
  for (const run of q.match(/[\x00-\x7f]{5,}/g) ?? []) {
    const bytes = Buffer.from(run.toLowerCase(), 'latin1')
    for (let at = PART_BYTES - 1; at < bytes.length; at += 1)
      slots.add(slotOf(bytes.readInt32BE(at - (PART_BYTES - 1)), bytes[at] ?? 0))
  }
  const all = [...slots]
  if (all.length <= LOOKED_UP_MAX) return all
  return all.filter((_, index) => (index * LOOKED_UP_MAX) % all.length < LOOKED_UP_MAX)
}

/**
 * The slots of a page, one after the other: each is a word of 32 bits, one for each block.
 *
 * @param blocks at most 32 signatures, oldest first
 */
export function transposed(blocks: readonly Bitmap[]): Uint32Array {
  const slots = new Uint32Array(SLOTS)
  const square = new Uint32Array(WORD_BITS)
  for (let word = 0; word < SLOTS / WORD_BITS; word += 1) {
    for (let block = 0; block < WORD_BITS; block += 1) square[block] = blocks[block]?.[word] ?? 0
    transpose(square)
    slots.set(square, word * WORD_BITS)
  }
  return slots
}

/** Swaps rows and columns of 32 × 32 bits. */
function transpose(square: Uint32Array): void {
  let mask = 0x0000ffff
  for (let size = 16; size > 0; size >>>= 1) {
    for (let row = 0; row < WORD_BITS; row = ((row | size) + 1) & ~size) {
      const upper = square[row] ?? 0
      const lower = square[row | size] ?? 0
      const swapped = ((upper >>> size) ^ lower) & mask
      square[row] = upper ^ (swapped << size)
      square[row | size] = lower ^ swapped
    }
    mask ^= mask << (size >>> 1)
  }
}

/**
 * The slots of a merged page. A slot holds the words of all pages.
 *
 * @param pages the same part of the slots of each page, oldest first
 */
export function merged(pages: readonly Uint32Array[]): Uint32Array {
  const length = pages[0]?.length ?? 0
  const slots = new Uint32Array(length * pages.length)
  for (const [index, page] of pages.entries())
    for (let slot = 0; slot < length; slot += 1) slots[slot * pages.length + index] = page[slot] ?? 0
  return slots
}

/**
 * The blocks that have all parts of a text.
 *
 * @param words slots of a page, one after the other, for each part one
 * @param blockCount number of blocks of the page
 * @returns numbers of blocks, newest first
 */
export function blocksWithAll(words: Buffer, blockCount: number): number[] {
  const perSlot = blockCount / WORD_BITS
  const found: number[] = []
  for (let word = perSlot - 1; word >= 0; word -= 1) {
    let bits = -1
    for (let at = word * 4; at < words.length; at += perSlot * 4) bits &= words.readInt32LE(at)
    for (let bit = WORD_BITS - 1; bits !== 0 && bit >= 0; bit -= 1) {
      if ((bits & (1 << bit)) !== 0) found.push(word * WORD_BITS + bit)
    }
  }
  return found
}
