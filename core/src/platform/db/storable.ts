/** A text with U+FFFD in place of NUL, the one character that PostgreSQL's text cannot hold, and of half surrogate pairs. */
export function storable(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed()
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\ufffd') : wellFormed
}
