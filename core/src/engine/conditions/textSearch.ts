/**
 * Index of the first `needle` in `text` at or after `from`, or -1. Takes at most a few steps a character (Knuth, Morris
 * and Pratt). The built-in `indexOf` compares the whole needle at every position. A sender that knows the condition can
 * make it take a tenth of a second for 256 KB, so it is used only for needles too short for that.
 */
export function findText(text: string, needle: string, from = 0): number {
  if (needle.length <= SHORT) return text.indexOf(needle, from)
  const restart = restarts(needle)
  let matched = 0
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    while (matched > 0 && needle.charCodeAt(matched) !== code) matched = restart[matched - 1] ?? 0
    if (needle.charCodeAt(matched) === code) matched += 1
    if (matched === needle.length) return at - needle.length + 1
  }
  return -1
}

const SHORT = 8

/** For each prefix of the needle: the length of its longest proper suffix that is also a prefix of the needle. */
function restarts(needle: string): Uint16Array {
  const table = new Uint16Array(needle.length)
  let matched = 0
  for (let at = 1; at < needle.length; at += 1) {
    const code = needle.charCodeAt(at)
    while (matched > 0 && needle.charCodeAt(matched) !== code) matched = table[matched - 1] ?? 0
    if (needle.charCodeAt(matched) === code) matched += 1
    table[at] = matched
  }
  return table
}

/** A `like` pattern cut at its unescaped stars: `a*b` is `['a', 'b']`; `\*` is a literal star. */
export function likeParts(pattern: string): readonly string[] {
  const parts: string[] = []
  let part = ''
  for (let at = 0; at < pattern.length; at += 1) {
    const mark = pattern[at] ?? ''
    if (mark === '\\' && pattern[at + 1] === '*') {
      part += '*'
      at += 1
    } else if (mark === '*') {
      parts.push(part)
      part = ''
    } else {
      part += mark
    }
  }
  return [...parts, part]
}

/**
 * Whether the whole text consists of the parts in order, with any text between them. Linear in the length of the text.
 */
export function isLike(text: string, parts: readonly string[]): boolean {
  const [first = '', ...rest] = parts
  const last = rest.pop()
  if (last === undefined) return text === first
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false
  let at = first.length
  const end = text.length - last.length
  for (const part of rest) {
    const found = findText(text, part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

/**
 * Unicode simple case folding, one code point to one: `ſ` is `s`, `ς` is `σ`, but `ß` is not `ss` and a dotless `ı`
 * stays itself.
 */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  let folded = ''
  for (const character of text) folded += foldCharacter(character)
  return folded
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant.
const ASCII = /^[\x00-\x7f]*$/

function foldCharacter(character: string): string {
  if (character === 'ı') return character
  const upper = character.toUpperCase()
  const lower = (oneCodePoint(upper) ? upper : character).toLowerCase()
  return oneCodePoint(lower) ? lower : character
}

function oneCodePoint(text: string): boolean {
  return text.length === 1 || (text.length === 2 && (text.codePointAt(0) ?? 0) > 0xffff)
}
