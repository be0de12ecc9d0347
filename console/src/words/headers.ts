/** Lines of a text that hold something. */
export const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '')

/** Whether a text has line breaks, and all of them are CR LF. */
export const hasCrlf = (text: string): boolean =>
  text.includes('\r\n') && !/\r(?!\n)|(?:^|[^\r])\n/.test(text)

/** A text whose line breaks became LF in a field, with those of the text before it. */
export const withBreaksOf = (before: string, text: string): string =>
  hasCrlf(before) ? text.replace(/\r?\n/g, '\r\n') : text

/** A line like `Name: value`. One without a colon is a name, so that the API's refusal explains it. */
export function fieldOf(line: string): { name: string; value: string } {
  const at = line.indexOf(':')
  return at < 0
    ? { name: line.trim(), value: '' }
    : { name: line.slice(0, at).trim(), value: line.slice(at + 1).trim() }
}

/** Header fields that are typed one a line, by name. */
export const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(linesOf(text).map((line) => Object.values(fieldOf(line))))

export const headerLines = (headers: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`)
