import { headerText, type WireHeader } from './capturedRequest.ts'

/** The header fields of a row. Names and values are stored in two columns, one field a line. */
export function storedHeaders(row: { headerNames: string; headerValues: Buffer }): WireHeader[] {
  if (row.headerNames === '') return []
  const values = row.headerValues.toString('latin1').split('\n')
  return row.headerNames.split('\n').map((name, at) => [name, values[at] ?? ''])
}

/** Fields by name, repeats joined with ", " and `Cookie` with "; ". */
export function joinedHeaders(headers: readonly WireHeader[]): Record<string, string> {
  const joined = new Map<string, { name: string; text: string }>()
  for (const [name, value] of headers) {
    const key = name.toLowerCase()
    const known = joined.get(key)
    const text = headerText(value)
    if (known === undefined) joined.set(key, { name, text })
    else known.text += (key === 'cookie' ? '; ' : ', ') + text
  }
  return Object.fromEntries([...joined.values()].map(({ name, text }) => [name, text]))
}

/** Values grouped by name, in order. */
export function valuesByName(pairs: Iterable<readonly [string, string]>): Record<string, string[]> {
  const grouped = Map.groupBy(pairs, ([name]) => name)
  return Object.fromEntries([...grouped].map(([name, group]) => [name, group.map(([, value]) => value)]))
}
