import { EVERY, type Segment, segmentIn } from '../engine/conditions/index.ts'

/**
 * Sets a value at a path of a JSON document, and creates missing objects and lists on the way.
 *
 * @param path in the catalog's notation: `signature.timestamp`, `items[0].id`
 */
export function setMember(document: object, path: string, value: unknown): void {
  const segments = path
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step))
  setAt(document, segments, value)
}

/** The same for a parsed path; false if it leads through a value that is neither an object nor a list. */
export function setAt(document: object, segments: readonly Segment[], value: unknown): boolean {
  let reached: object = document
  for (const [at, written] of segments.entries()) {
    const segment = segmentIn(written, Array.isArray(reached))
    if (segment === EVERY) return false
    const name = keyOf(reached, segment)
    if (name === undefined) return false
    if (at === segments.length - 1) {
      put(reached, name, value)
      return true
    }
    const inner: unknown = Reflect.get(reached, name)
    if (inner === undefined || inner === null) {
      const made = typeof segments[at + 1] === 'number' ? [] : {}
      put(reached, name, made)
      reached = made
    } else if (typeof inner === 'object') reached = inner
    else return false
  }
  return false
}

/** The member or list index of a segment. An index may be at most one beyond the end. */
function keyOf(container: object, segment: string | number): string | number | undefined {
  if (!Array.isArray(container)) return typeof segment === 'string' ? segment : undefined
  const index = typeof segment === 'number' ? segment : Number.NaN
  const place = index < 0 ? container.length + index : index
  return place >= 0 && place <= container.length ? place : undefined
}

/** Defines the member, so that `__proto__` is one like any other. */
function put(container: object, name: string | number, value: unknown): void {
  Object.defineProperty(container, name, { value, writable: true, enumerable: true, configurable: true })
}
