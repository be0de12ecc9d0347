/** The costs of so many kinds of work are remembered; the one that was measured longest ago is forgotten first. */
const KINDS_MAX = 1_000
/** How much the newest measurement counts in a mean of factors: one piece that took a thousand times as long says little. */
const WEIGHT = 0.25
/** No piece is taken for shorter, in milliseconds. */
const MS_MIN = 0.001

/** The first measurements of a burst are of a process that is busy with its arrival: so many say what the rest will take. */
const SAMPLES_MIN = 8

interface Cost {
  readonly msPerUnit: number
  readonly samples: number
}

/** Work that runs or waits: units by kind. */
export type Load = Map<string, number>

/** What work took lately, by kind and unit of size. */
export class Costs {
  readonly #known = new Map<string, Cost>()

  /** Notes what a piece of work took, in milliseconds. */
  note(kind: string, size: number, ms: number): void {
    const before = this.#known.get(kind)
    const now = Math.max(ms, MS_MIN) / Math.max(size, 1)
    // Deleted first: the map is ordered by the last measurement.
    this.#known.delete(kind)
    const msPerUnit =
      before === undefined
        ? now
        : before.msPerUnit * (now / before.msPerUnit) ** Math.max(WEIGHT, 1 / (before.samples + 1))
    this.#known.set(kind, { msPerUnit, samples: (before?.samples ?? 0) + 1 })
    const [oldest] = this.#known.keys()
    if (this.#known.size > KINDS_MAX && oldest !== undefined) this.#known.delete(oldest)
  }

  /** Whether the kind was measured often enough to refuse others for it. */
  isCertain(kind: string): boolean {
    return (this.#known.get(kind)?.samples ?? 0) >= SAMPLES_MIN
  }

  /** Expected milliseconds; 0 for a kind that was never measured: it is taken for cheap until it is known. */
  of(kind: string, size: number): number {
    return (this.#known.get(kind)?.msPerUnit ?? 0) * size
  }

  /** The same for all of a load. */
  ofAll(load: Load): number {
    let ms = 0
    for (const [kind, size] of load) ms += this.of(kind, size)
    return ms
  }
}

/** Adds units of a kind to a load; a negative number takes them out. */
export function addTo(load: Load, kind: string, size: number): void {
  const left = (load.get(kind) ?? 0) + size
  if (left > 0) load.set(kind, left)
  else load.delete(kind)
}
