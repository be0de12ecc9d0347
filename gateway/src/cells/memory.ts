/** What a gateway remembers about where a caller belongs. */
export interface CellMemory {
  /** The number of the cell that knew a handle; undefined if that is not remembered. */
  cellOf(handle: string): number | undefined
  remember(handle: string, cell: number): void
  forget(handle: string): void
  /** Whether every cell said a few seconds ago that it does not know a handle. */
  isUnknown(handle: string): boolean
  /** The cell that did not answer then, if one did not; undefined otherwise. */
  unansweredOf(handle: string): number | undefined
  /** @param unanswered number of a cell that did not answer; null if every cell did */
  rememberUnknown(handle: string, unanswered: number | null): void
}

/** The most handles of each kind: about 10 MB. */
const KNOWN_MAX = 50_000
const UNKNOWN_MAX = 10_000
/** Time for which an answer counts, in milliseconds. */
const KNOWN_MS = 30_000
const UNKNOWN_MS = 3_000

/** Creates a memory of bounded size. Old answers are forgotten: a workspace may have moved. */
export function createMemory(now: () => number = () => performance.now()): CellMemory {
  const known = new Map<string, { readonly cell: number; readonly until: number }>()
  const unknown = new Map<string, { readonly unanswered: number | null; readonly until: number }>()
  const unknownNow = (handle: string) => {
    const entry = unknown.get(handle)
    return entry === undefined || entry.until < now() ? undefined : entry
  }
  return {
    cellOf(handle) {
      const entry = known.get(handle)
      if (entry === undefined || entry.until < now()) return undefined
      return entry.cell
    },
    remember(handle, cell) {
      unknown.delete(handle)
      put(known, handle, { cell, until: now() + KNOWN_MS }, KNOWN_MAX)
    },
    forget: (handle) => void known.delete(handle),
    isUnknown: (handle) => unknownNow(handle)?.unanswered === null,
    unansweredOf: (handle) => unknownNow(handle)?.unanswered ?? undefined,
    rememberUnknown: (handle, unanswered) =>
      put(unknown, handle, { unanswered, until: now() + UNKNOWN_MS }, UNKNOWN_MAX),
  }
}

/** Sets an entry as the newest one, and drops the oldest one over the limit. */
function put<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= max) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
