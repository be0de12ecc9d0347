/**
 * Whether an answer with a length, or in chunks, has arrived in full.
 *
 * @param text one character a byte
 */
export function isWholeAnswer(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return false
  const head = text.slice(0, end).toLowerCase()
  if (head.includes('transfer-encoding: chunked')) return text.endsWith('\r\n0\r\n\r\n')
  const length = /content-length: (\d+)/.exec(head)?.[1] ?? '0'
  return text.length >= end + 4 + Number(length)
}
