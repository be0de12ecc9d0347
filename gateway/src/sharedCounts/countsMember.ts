import {
  type CountReport,
  type CountTotal,
  NO_UNITS,
  type OtherUnits,
  type SharedCounts,
  type SharedLimit,
  type SharedLimitOptions,
} from './sharedCounts.ts'

/** Changes within this time are one report. */
const REPORT_MS = 10

/** The counts of one process of several. */
export interface CountsMember extends SharedCounts {
  /** Takes what the hub says. */
  take(totals: readonly CountTotal[]): void
}

/**
 * Creates the counts of one gateway process. A limit is reported once this process uses so much of it that all
 * together may use half, or once another process does. So ordinary clients cost nothing.
 *
 * @param processes gateway processes of the program
 * @param send passes reports to the {@link CountsHub}
 */
export function createCountsMember(
  processes: number,
  send: (reports: readonly CountReport[]) => void,
): CountsMember {
  const limits = new Map<string, MemberLimit>()
  const changed = new Map<string, () => CountReport>()
  const report = (key: string, make: () => CountReport) => {
    if (changed.size === 0) setTimeout(flush, REPORT_MS).unref()
    changed.set(key, make)
  }
  const flush = () => {
    const reports = [...changed.values()].map((make) => make())
    changed.clear()
    send(reports)
  }
  return {
    processes,
    share(name, options) {
      const limit = new MemberLimit(name, options, { processes, report })
      limits.set(name, limit)
      return limit
    },
    take(totals) {
      for (const total of totals) {
        const colon = total.key.indexOf(':')
        limits.get(total.key.slice(0, colon))?.take(total.key.slice(colon + 1), total)
      }
    },
  }
}

interface Membership {
  readonly processes: number
  readonly report: (key: string, make: () => CountReport) => void
}

class MemberLimit implements SharedLimit {
  readonly #name: string
  readonly #options: SharedLimitOptions
  readonly #membership: Membership
  /** Units above which this process reports without being asked. */
  readonly #reportedFrom: number
  readonly #watched = new Map<string, OtherUnits>()

  constructor(name: string, options: SharedLimitOptions, membership: Membership) {
    this.#name = name
    this.#options = options
    this.#membership = membership
    this.#reportedFrom = options.max / (2 * membership.processes)
  }

  others(id: string): OtherUnits {
    return this.#watched.get(id) ?? NO_UNITS
  }

  isFull(id: string, own: number): boolean {
    const { max } = this.#options
    if (own >= max) return true
    const isBelowPart = own < Math.floor(max / this.#membership.processes)
    return !isBelowPart && own + this.others(id).count >= max
  }

  changed(id: string, own: number): void {
    if (own < this.#reportedFrom && !this.#watched.has(id)) return
    this.#report(id)
  }

  take(id: string, { isWatched, most, count, untilMs }: CountTotal): void {
    if (!isWatched) {
      this.#watched.delete(id)
      return
    }
    const isNew = !this.#watched.has(id)
    this.#watched.set(id, { count, untilMs })
    if (isNew && this.#options.read(id) > 0) this.#report(id)
    if (most === null || this.#options.read(id) <= most) return
    this.#options.shed?.(id, most)
    this.#report(id)
  }

  #report(id: string): void {
    const { max, read, untilMs } = this.#options
    const key = `${this.#name}:${id}`
    // Read when it is sent: the count may change again until then.
    this.#membership.report(key, () => ({ key, count: read(id), max, untilMs: untilMs?.(id) ?? 0 }))
  }
}
