import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { findText, foldCase, isLike, likeParts } from './textSearch.ts'

const letters = (maxLength: number) => fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength })

describe('findText', () => {
  test('finds what indexOf finds', () => {
    fc.assert(
      fc.property(letters(60), letters(14), fc.nat(10), (text, needle, from) => {
        expect(findText(text, needle, from)).toBe(text.indexOf(needle, from))
      }),
      { numRuns: 3000 },
    )
  })
})

describe('like', () => {
  test('agrees with the regular expression it stands for', () => {
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*', '\\*'), maxLength: 8 })
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 10 })
    fc.assert(
      fc.property(pattern, text, (like, candidate) => {
        const source = likeParts(like)
          .map((part) => part.replaceAll('*', '\\*'))
          .join('.*')
        expect(isLike(candidate, likeParts(like))).toBe(new RegExp(`^${source}$`, 's').test(candidate))
      }),
      { numRuns: 3000 },
    )
  })

  test('a backslash before anything but a star stands for itself', () => {
    expect(isLike('a\\b', likeParts('a\\b'))).toBe(true)
  })
})

describe('foldCase', () => {
  test('folds every character as Unicode regular expressions do, and keeps its length', () => {
    for (let code = 0x80; code < 0x1e944; code += 1) {
      if (code === 0xd800) code = 0xe000
      const character = String.fromCodePoint(code)
      const folded = foldCase(character)
      if (folded === character) continue
      expect(folded).toHaveLength(character.length)
      expect(new RegExp(`^${folded}$`, 'iu').test(character)).toBe(true)
    }
  })

  test('characters that differ in case only fold to the same', () => {
    for (let code = 0x41; code < 0x1e944; code += 1) {
      if (code === 0xd800) code = 0xe000
      const character = String.fromCodePoint(code)
      for (const other of [character.toUpperCase(), character.toLowerCase()]) {
        if ([...other].length !== 1 || other === character) continue
        const same = new RegExp(`^\\u{${code.toString(16)}}$`, 'iu').test(other)
        expect(`${character} ${foldCase(other) === foldCase(character)}`).toBe(`${character} ${same}`)
      }
    }
  })
})
