/** Decodes percent-encoded UTF-8; a text that is none is unchanged. */
export function percentDecoded(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
