/** Codes of one item in a problem's `errors`. */
export const ITEM_CODES = [
  'required',
  'type',
  'out_of_range',
  'too_short',
  'too_long',
  'unknown_field',
  'unknown_value',
  'unknown_op',
  'unknown_function',
  'bad_path',
  'bad_template',
  'bad_url',
  'bad_format',
  'not_allowed',
  'too_many',
  'too_deep',
  'duplicate',
  'arity',
] as const

export type ItemCode = (typeof ITEM_CODES)[number]

/**
 * One wrong part of an input, found by domain code. `path` leads from the root of the *input object*
 * (`['steps', 1, 'op']`); the gateway turns it into a `pointer` or a `parameter` by where the member came from.
 */
export interface InputIssue {
  readonly path: readonly (string | number)[]
  readonly code: ItemCode
  /** One sentence that says what would be right. Never holds a secret. */
  readonly detail: string
}

export const issue = (path: InputIssue['path'], code: ItemCode, detail: string): InputIssue => ({
  path,
  code,
  detail,
})

/** Whether PostgreSQL's text and JSON can hold it: it has neither NUL nor half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Whether a text has more than `length` characters, counted as code points, as JSON Schema does. Any text takes little time. */
export function isLonger(text: string, length: number): boolean {
  // A code point has one or two units.
  return text.length > 2 * length || (text.length > length && [...text].length > length)
}

/** The value at `path` in a plain value; undefined where a part of the path is absent. */
export function valueAt(input: unknown, path: readonly (string | number)[]): unknown {
  let value = input
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = Reflect.get(value, part)
  }
  return value
}

/**
 * Sorts issues by the position of their member in the input. A missing member sorts after the members of its parent.
 */
export function inDocumentOrder(issues: readonly InputIssue[], input: unknown): InputIssue[] {
  // Each object's members are counted once: a body may hold a hundred thousand wrong ones.
  const places = new Map<object, ReadonlyMap<string, number>>()
  const placesIn = (value: object) => {
    const known = places.get(value) ?? new Map(Object.keys(value).map((key, at) => [key, at]))
    places.set(value, known)
    return known
  }
  const rank = (path: readonly (string | number)[]): number[] => {
    const ranks: number[] = []
    let value = input
    for (const part of path) {
      const place =
        typeof value === 'object' && value !== null ? placesIn(value).get(String(part)) : undefined
      ranks.push(place ?? Number.MAX_SAFE_INTEGER)
      value = valueAt(value, [part])
    }
    return ranks
  }
  return issues
    .map((issue) => ({ issue, rank: rank(issue.path) }))
    .sort((a, b) => compareRanks(a.rank, b.rank))
    .map(({ issue }) => issue)
}

/** Keeps the first issue of each wrong part. */
export function onePerPart(issues: readonly InputIssue[]): InputIssue[] {
  const parts = new Set<string>()
  return issues.filter(({ path }) => {
    const part = JSON.stringify(path)
    if (parts.has(part)) return false
    parts.add(part)
    return true
  })
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}
