import { CONNECTION_FIELDS } from '../words/index.ts'
import { headerText, headerValues, type WireHeader } from './capturedRequest.ts'

/** Further fields that describe the route by which a capture came, or that the next hop sets. */
const DROPPED = new Set([...CONNECTION_FIELDS, 'accept-encoding', 'forwarded', 'via', 'x-real-ip'])

const NONE: ReadonlySet<string> = new Set()

/**
 * The captured fields that a forward passes on, in wire order, spelling and bytes: without those of the
 * connection (RFC 9110 §7.6.1) and those that `Connection` names, those of proxies, and our own.
 *
 * @param written names, in lower case, that a rule wrote: they are meant for the receiver and always kept
 */
export function forwardableHeaders(
  captured: readonly WireHeader[],
  written: ReadonlySet<string> = NONE,
): WireHeader[] {
  const named = namedByConnection(captured)
  return captured.filter(([field]) => {
    const name = field.toLowerCase()
    return written.has(name) || !(isDropped(name) || named.has(name))
  })
}

function isDropped(name: string): boolean {
  return (
    DROPPED.has(name) ||
    name.startsWith('creel-') ||
    name.startsWith('proxy-') ||
    name.startsWith('x-forwarded-')
  )
}

/** The fields, in lower case, that `Connection` says belong to it. */
function namedByConnection(captured: readonly WireHeader[]): ReadonlySet<string> {
  const values = headerValues(captured, 'connection')
  // The usual value; `keep-alive` is dropped in any case.
  if (values.every((value) => value === 'keep-alive')) return NONE
  return new Set(values.flatMap((value) => value.split(',').map((token) => token.trim().toLowerCase())))
}

/**
 * The time of a date in a header field (RFC 9110 §5.6.7), in milliseconds; NaN if it is none. A date without a zone is
 * in UTC, wherever the process runs.
 */
export function httpDate(text: string): number {
  const date = text.trim()
  return Date.parse(/(?:[a-z]|[+-]\d\d:?\d\d)\)?$/i.test(date) ? date : `${date}Z`)
}

/** The header fields of a row. Names and values are stored in two columns, one field a line. */
export function storedHeaders(row: { headerNames: string; headerValues: Buffer }): WireHeader[] {
  if (row.headerNames === '') return []
  const values = row.headerValues.toString('latin1').split('\n')
  return row.headerNames.split('\n').map((name, at) => [name, values[at] ?? ''])
}

/** Fields by name, repeats joined with ", " and those of `Cookie` with a separator of their own. */
export function joinedHeaders(
  headers: readonly WireHeader[],
  cookieSeparator: '; ' | ', ' = '; ',
): Record<string, string> {
  const joined = new Map<string, { name: string; text: string }>()
  for (const [name, value] of headers) {
    const key = name.toLowerCase()
    const known = joined.get(key)
    const text = headerText(value)
    if (known === undefined) joined.set(key, { name, text })
    else known.text += (key === 'cookie' ? cookieSeparator : ', ') + text
  }
  return Object.fromEntries([...joined.values()].map(({ name, text }) => [name, text]))
}

/** Values grouped by name, in order. */
export function valuesByName(pairs: Iterable<readonly [string, string]>): Record<string, string[]> {
  const grouped = Map.groupBy(pairs, ([name]) => name)
  return Object.fromEntries([...grouped].map(([name, group]) => [name, group.map(([, value]) => value)]))
}

/**
 * Values by names of headers, without regard to case. Most headers have a length that no name has, and are not converted
 * to lower case, which takes longest.
 */
export class ByHeaderName<Value> {
  private readonly values: ReadonlyMap<string, Value>
  private readonly lengths: ReadonlySet<number>

  constructor(entries: readonly (readonly [name: string, value: Value])[]) {
    this.values = new Map(entries.map(([name, value]) => [name.toLowerCase(), value]))
    this.lengths = new Set(entries.map(([name]) => name.length))
  }

  get(name: string): Value | undefined {
    return this.lengths.has(name.length) ? this.values.get(name.toLowerCase()) : undefined
  }

  get size(): number {
    return this.values.size
  }

  /** In lower case. */
  names(): Iterable<string> {
    return this.values.keys()
  }
}

/** Fields as the API shows them. */
export const shownFields = (headers: readonly WireHeader[]) =>
  headers.map(([name, value]) => ({ name, value: headerText(value) }))

/** A field that the API takes, with its value as a latin1 byte string. */
export const wireField = ({ name, value }: { readonly name: string; readonly value: string }): WireHeader => [
  name,
  Buffer.from(value, 'utf8').toString('latin1'),
]
