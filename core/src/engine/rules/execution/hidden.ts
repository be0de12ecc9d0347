import { isUnopened, type LazyJson } from '../../json/index.ts'
import { urlEncodedPair } from '../../message/index.ts'

/** Number of names in all objects of a JSON text, repeated ones included. Linear; the text must be JSON. */
export function namesIn(json: string): number {
  let count = 0
  let inString = false
  for (let index = 0; index < json.length; index += 1) {
    const char = json.charCodeAt(index)
    if (char === 0x22) inString = !inString
    else if (inString) {
      if (char === 0x5c) index += 1
    } else if (char === 0x3a) count += 1
  }
  return count
}

export function memberCountOf(node: LazyJson): number {
  if (Array.isArray(node)) return node.reduce((sum: number, item) => sum + memberCountOf(item), 0)
  if (node instanceof Map) {
    let count = node.size
    for (const member of node.values()) count += memberCountOf(member)
    return count
  }
  if (!isUnopened(node)) return 0
  let count = 0
  for (const name in node) count += 1 + memberCountOf(node[name] ?? null)
  return count
}

/** New value of a query parameter: null removes it, undefined leaves it unchanged. */
export type ChangeOfQuery = (name: string, value: string) => string | null | undefined

/** Changes the parameters of a query string. The others keep their bytes. Null when none is left. */
export function changedQuery(query: string, change: ChangeOfQuery): string | null {
  const pieces: string[] = []
  // Mostly the same text replaces all values.
  let latest = { value: '', encoded: '' }
  for (const piece of query.split('&')) {
    const value = piece === '' ? undefined : change(...urlEncodedPair(piece))
    if (value === undefined) pieces.push(piece)
    else if (value !== null) {
      if (value !== latest.value) latest = { value, encoded: encodeURIComponent(value.toWellFormed()) }
      const equals = piece.indexOf('=')
      pieces.push(`${equals < 0 ? piece : piece.slice(0, equals)}=${latest.encoded}`)
    }
  }
  return pieces.length === 0 ? null : pieces.join('&')
}
