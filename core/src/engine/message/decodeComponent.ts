const PERCENT = 0x25
const PLUS = 0x2b
const SPACE = 0x20

/**
 * Decodes one component of a query or form: `+` is a space, a bad escape stays as written. Goes byte by byte, since
 * `replace` takes a second for millions of escapes.
 */
export function decodeComponent(text: string): string {
  if (!text.includes('+') && !text.includes('%')) return text
  const bytes = Buffer.from(text)
  let to = 0
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] ?? 0
    let escapes = byte === PERCENT ? escapesAt(bytes, at) : 0
    if (escapes === 0) {
      bytes[to] = byte === PLUS ? SPACE : byte
      at += 1
      to += 1
    }
    // The result is never longer than what was read of the same buffer.
    for (; escapes > 0; escapes -= 1) {
      bytes[to] = escapedByte(bytes, at)
      at += 3
      to += 1
    }
  }
  return bytes.toString('utf8', 0, to)
}

/**
 * Number of escapes that make up the character at a position. 0 unless it is well formed as in Unicode table 3-7, so that
 * a bad escape spoils no neighbours.
 */
function escapesAt(bytes: Uint8Array, at: number): number {
  const lead = escapedByte(bytes, at)
  if (lead < 0x80) return lead < 0 ? 0 : 1
  const count = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0
  for (let index = 1; index < count; index += 1) {
    const byte = escapedByte(bytes, at + 3 * index)
    const least = index === 1 ? (LEAST_SECOND.get(lead) ?? 0x80) : 0x80
    const most = index === 1 ? (MOST_SECOND.get(lead) ?? 0xbf) : 0xbf
    if (byte < least || byte > most) return 0
  }
  return count
}

/** Bounds of the second byte after some lead bytes: no overlong forms, no surrogates, nothing above U+10FFFF. */
const LEAST_SECOND: ReadonlyMap<number, number> = new Map([
  [0xe0, 0xa0],
  [0xf0, 0x90],
])
const MOST_SECOND: ReadonlyMap<number, number> = new Map([
  [0xed, 0x9f],
  [0xf4, 0x8f],
])

/** The byte of the escape at a position; negative if there is none. */
function escapedByte(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== PERCENT) return -1
  const high = digitOf(bytes[at + 1])
  const low = digitOf(bytes[at + 2])
  return high < 0 || low < 0 ? -1 : high * 16 + low
}

/** Value of a hexadecimal digit; -1 for another byte. */
function digitOf(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
