/**
 * Converts to byte text: a string whose characters are bytes (latin1), as headers are held. All text that is signed or
 * compared is byte text, so that the received bytes are compared, never a decoded form of them.
 */
export function byteTextOf(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is the common case and is its own byte text.
  return /^[\x00-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1')
}

export function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

/** Without spaces and tabs at both ends; other blanks of Unicode are ordinary bytes here. */
export function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start += 1
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1
  return start === 0 && end === text.length ? text : text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

/** Decodes percent-encoded UTF-8; a text that is none is unchanged. */
export function percentDecoded(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
