import { setNewest } from '../memory/index.ts'

/** The most kinds of work whose costs are kept; the one measured longest ago is dropped first. */
const KINDS_MAX = 1_000
/** Weight of the newest measurement in a geometric mean: one piece that took a thousand times as long means little. */
const WEIGHT = 0.25
/** The least duration that is assumed for a piece, in milliseconds. */
const MS_MIN = 0.001

/**
 * Measurements that an estimate needs. The first ones of a burst are too long, since the process is busy with its
 * arrival.
 */
const SAMPLES_MIN = 8

interface Cost {
  readonly msPerUnit: number
  readonly samples: number
}

/** Work that runs or waits: units by kind. */
export type Load = Map<string, number>

/** Recent durations of work, by kind and unit of size. */
export class Costs {
  readonly #known = new Map<string, Cost>()

  /** Records the duration of a piece of work, in milliseconds. */
  note(kind: string, size: number, ms: number): void {
    const before = this.#known.get(kind)
    const now = Math.max(ms, MS_MIN) / Math.max(size, 1)
    const msPerUnit =
      before === undefined
        ? now
        : before.msPerUnit * (now / before.msPerUnit) ** Math.max(WEIGHT, 1 / (before.samples + 1))
    setNewest(this.#known, kind, { msPerUnit, samples: (before?.samples ?? 0) + 1 }, KINDS_MAX)
  }

  /** Whether the kind was measured often enough to refuse work by the estimate. */
  isCertain(kind: string): boolean {
    return (this.#known.get(kind)?.samples ?? 0) >= SAMPLES_MIN
  }

  /** Expected milliseconds; 0 for a kind that was never measured, which is assumed to be cheap. */
  of(kind: string, size: number): number {
    return (this.#known.get(kind)?.msPerUnit ?? 0) * size
  }

  /** Expected milliseconds of a whole load. */
  ofAll(load: Load): number {
    let ms = 0
    for (const [kind, size] of load) ms += this.of(kind, size)
    return ms
  }
}

/** Adds units of a kind to a load; a negative number removes them. */
export function addTo(load: Load, kind: string, size: number): void {
  const left = (load.get(kind) ?? 0) + size
  if (left > 0) load.set(kind, left)
  else load.delete(kind)
}
