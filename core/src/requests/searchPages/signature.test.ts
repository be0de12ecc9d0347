import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  blocksWithAll,
  emptyBitmap,
  mark,
  merged,
  PAGE_BLOCKS,
  SLOTS,
  slotsOf,
  transposed,
} from './signature.ts'

const signatureOf = (text: string) => {
  const bitmap = emptyBitmap()
  mark(bitmap, Buffer.from(text))
  return bitmap
}
const hasSlot = (bitmap: Uint32Array, slot: number) => ((bitmap[slot >>> 5] ?? 0) & (1 << (slot & 31))) !== 0
const wordsOf = (slots: Uint32Array, q: string, width = 1) =>
  Buffer.concat(slotsOf(q).map((slot) => Buffer.from(slots.slice(slot * width, (slot + 1) * width).buffer)))

/** Letters whose lower case is ASCII, or is not, and some of every length in UTF-8. */
const unit = fc.constantFrom(...'kK\u212aiI\u0130ısSſßéÉΣς😀中%_\\ ab01')
const text = fc.string({ unit, maxLength: 60 })

describe('signatures', () => {
  test('have every slot of each text that they contain, in any case', () => {
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), fc.boolean(), (whole, from, length, isUpper) => {
        const letters = [...whole].slice(from % 60, (from % 60) + (length % 40))
        const part = letters.map((letter) => (letter === '\u0130' ? 'i' : letter.toLowerCase())).join('')
        const q = isUpper ? part.toUpperCase() : part
        // The upper case of some letters is another text in lower case.
        const isSame = [...q].map((letter) => letter.toLowerCase()).join('') === part
        if (!isSame) return
        const bitmap = signatureOf(whole)
        expect(slotsOf(q).filter((slot) => !hasSlot(bitmap, slot))).toEqual([])
      }),
      { numRuns: 3_000 },
    )
  })

  test('are not looked up by texts without five ASCII characters in a row', () => {
    expect(slotsOf('evt_')).toEqual([])
    expect(slotsOf('aböcdé1234')).toEqual([])
    expect(slotsOf('evt_1')).toHaveLength(1)
  })

  test('are looked up by at most sixteen parts from all of a long text', () => {
    for (let length = 5; length <= 200; length += 1) {
      const q = Array.from({ length }, (_, index) => String.fromCharCode(33 + (index % 60))).join('')
      expect(slotsOf(q).length).toBe(Math.min(16, length - 4))
    }
    const [common, one, other] = ['https://api.example.com/v1/', 'aaaaa0123456789', 'bbbbb9876543210']
    expect(slotsOf(common + one)).not.toEqual(slotsOf(common + other))
  })
})

describe('pages', () => {
  test('tell the blocks that may have a text, small and merged', () => {
    const { small } = PAGE_BLOCKS
    const texts = Array.from({ length: 40 }, (_, index) => `{"id":"evt_${index}_of_${index * 7919}"}`)
    const pageOf = (some: readonly string[]) => transposed(some.map(signatureOf))
    const [first, second] = [pageOf(texts.slice(0, small)), pageOf(texts.slice(small))]
    expect(first).toHaveLength(SLOTS)
    expect(blocksWithAll(wordsOf(first, `of_${7 * 7919}"}`), small)).toEqual([7])
    expect(blocksWithAll(wordsOf(second, `of_${39 * 7919}"}`), small)).toEqual([7])
    expect(blocksWithAll(wordsOf(first, '{"id":"evt_'), small)).toEqual(
      Array.from({ length: small }, (_, index) => small - 1 - index),
    )
    expect(blocksWithAll(wordsOf(first, 'nowhere at all'), small)).toEqual([])
    const both = merged([first, second])
    expect(blocksWithAll(wordsOf(both, `of_${7 * 7919}"}`, 2), 2 * small)).toEqual([7])
    expect(blocksWithAll(wordsOf(both, `of_${39 * 7919}"}`, 2), 2 * small)).toEqual([39])
    expect(blocksWithAll(wordsOf(both, '{"id":"evt_', 2), 2 * small)).toHaveLength(40)
  })
})
