import type { CountReport, CountTotal } from './sharedCounts.ts'

/** Interval at which units that are void are dropped. */
const EXPIRY_MS = 10_000

export interface HubMember {
  /** Takes what the process reports. */
  take(reports: readonly CountReport[]): void
  /** Drops the counts of a process that has ended. */
  leave(): void
}

interface Process {
  readonly send: (totals: readonly CountTotal[]) => void
}

interface Units {
  readonly count: number
  readonly untilMs: number
}

interface Limit {
  readonly max: number
  readonly units: Map<Process, Units>
}

export interface CountsHubOptions {
  readonly processes: number
  /** The clock of the processes, in milliseconds; the system's by default. */
  readonly nowMs?: () => number
}

/**
 * Adds up what the gateway processes of one program use of shared limits, and sends each the sum of the others. When a
 * limit is passed, because two processes took the last units at the same time, it names the most that each may keep:
 * those that use the most give up the rest. A process that ends takes its counts with it, and nothing else is kept.
 */
export class CountsHub {
  readonly #processes: number
  readonly #nowMs: () => number
  readonly #members = new Set<Process>()
  readonly #limits = new Map<string, Limit>()
  readonly #changed = new Set<string>()
  readonly #timer: ReturnType<typeof setInterval>

  constructor({ processes, nowMs = Date.now }: CountsHubOptions) {
    this.#processes = processes
    this.#nowMs = nowMs
    this.#timer = setInterval(() => this.#dropVoid(), EXPIRY_MS)
    this.#timer.unref()
  }

  /** @param send tells the process what the others use */
  join(send: (totals: readonly CountTotal[]) => void): HubMember {
    const member: Process = { send }
    this.#members.add(member)
    for (const key of this.#limits.keys()) this.#change(key)
    return {
      take: (reports) => {
        for (const { key, count, max, untilMs } of reports) {
          const limit = this.#limits.get(key) ?? { max, units: new Map() }
          this.#limits.set(key, limit)
          limit.units.set(member, { count, untilMs })
          this.#change(key)
        }
      },
      leave: () => {
        this.#members.delete(member)
        for (const [key, { units }] of this.#limits) if (units.delete(member)) this.#change(key)
      },
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #change(key: string): void {
    if (this.#changed.size === 0) setImmediate(() => this.#tell())
    this.#changed.add(key)
  }

  #tell(): void {
    const totals = new Map<Process, CountTotal[]>([...this.#members].map((member) => [member, []]))
    for (const key of this.#changed) {
      const limit = this.#limits.get(key)
      if (limit === undefined) continue
      const isWatched = this.#isUsed(limit)
      if (!isWatched) this.#limits.delete(key)
      const parts = evenParts(limit)
      for (const [member, list] of totals) {
        list.push({ key, isWatched, ...unitsBeside(member, limit), most: parts?.get(member) ?? null })
      }
    }
    this.#changed.clear()
    for (const [member, list] of totals) if (list.length > 0) member.send(list)
  }

  /** False once every process is far below the units from which it reports. */
  #isUsed({ max, units }: Limit): boolean {
    const now = this.#nowMs()
    for (const [member, { untilMs }] of units) if (untilMs > 0 && untilMs <= now) units.delete(member)
    return [...units.values()].some(({ count }) => count >= max / (4 * this.#processes) && count > 0)
  }

  #dropVoid(): void {
    const now = this.#nowMs()
    for (const [key, { units }] of this.#limits) {
      for (const { untilMs } of units.values()) if (untilMs > 0 && untilMs <= now) this.#change(key)
    }
  }
}

function unitsBeside(member: Process, { units }: Limit): Units {
  const others = [...units].flatMap(([other, used]) => (other === member ? [] : used))
  return {
    count: others.reduce((total, { count }) => total + count, 0),
    untilMs: Math.max(0, ...others.map(({ untilMs }) => untilMs)),
  }
}

/**
 * The parts of a limit that was passed: those with the fewest units keep them, and the others share the rest evenly.
 *
 * @returns undefined while the limit is kept
 */
function evenParts({ max, units }: Limit): ReadonlyMap<Process, number> | undefined {
  const rising = [...units].sort(([, left], [, right]) => left.count - right.count)
  let rest = max
  const parts = new Map<Process, number>()
  for (const [at, [member, { count }]] of rising.entries()) {
    const part = Math.min(count, Math.floor(rest / (rising.length - at)))
    parts.set(member, part)
    rest -= part
  }
  const isKept = rising.every(([member, { count }]) => parts.get(member) === count)
  return isKept ? undefined : parts
}
