import type { RequestSummary } from '../trpc.ts'
import { peek, visible } from './visible.ts'

type Row = Pick<RequestSummary, 'bodyPreview' | 'eventId' | 'label'>

interface Member {
  readonly name: string
  readonly value: string
}

/** Newest rows that are compared to find the members that vary. */
const SAMPLE_ROWS = 100

/** A name with a text, number, true, false or null behind it. A list or an object is passed through. */
const MEMBER = /"((?:[^"\\]|\\.)*)"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*(?=[\s,}\]])|true|false|null)/g

/** Members that differ in every request and say little: ids and times. */
const USUAL =
  /^(id|\w+_id|\w+Id|uuid|nonce|created|createdAt|created_at|updated_at|updatedAt|timestamp|time|date)$/

const known = new WeakMap<Row, readonly Member[]>()

/** Scalar members at the beginning of a JSON body, in their order; empty for other bodies. */
function membersOf(row: Row): readonly Member[] {
  const before = known.get(row)
  if (before !== undefined) return before
  const members = /^\s*[[{]/.test(row.bodyPreview ?? '')
    ? [...(row.bodyPreview ?? '').matchAll(MEMBER)].map(([, name = '', value = '']) => ({
        name,
        value: value.startsWith('"') ? value.slice(1, -1) : value,
      }))
    : []
  known.set(row, members)
  return members
}

const keyOf = ({ name, value }: Member): string => `${name}\n${value}`

/** Members that all requests of a label share, by label. */
export type Shared = ReadonlyMap<string | null, ReadonlySet<string>>

/** Finds the members that the newest requests of each label share. A label with a single request has none. */
export function sharedMembers(rows: readonly Row[]): Shared {
  const counts = new Map<string | null, { rows: number; members: Map<string, number> }>()
  for (const row of rows.slice(0, SAMPLE_ROWS)) {
    const of = counts.get(row.label) ?? { rows: 0, members: new Map<string, number>() }
    counts.set(row.label, of)
    of.rows += 1
    for (const key of new Set(membersOf(row).map(keyOf))) of.members.set(key, (of.members.get(key) ?? 0) + 1)
  }
  return new Map(
    [...counts]
      .filter(([, of]) => of.rows > 1)
      .map(([label, of]) => [
        label,
        new Set([...of.members].filter(([, many]) => many === of.rows).map(([key]) => key)),
      ]),
  )
}

/**
 * The beginning of a body for lists. Members that differ among the requests of its label come first, then ids and
 * times, then members that all share. Label and event id are left out: the row shows them elsewhere.
 */
export function tellingPreview(row: Row, shared: Shared): string {
  const members = membersOf(row)
  if (members.length === 0) return peek(row.bodyPreview)
  const same = shared.get(row.label)
  const rank = (member: Member): number => (same?.has(keyOf(member)) ? 2 : USUAL.test(member.name) ? 1 : 0)
  const words = members
    .filter(({ value }) => value !== row.label && value !== row.eventId)
    .toSorted((one, other) => rank(one) - rank(other))
    .map(({ name, value }) => `${name} ${value}`)
  return visible(words.join(' · '))
}
