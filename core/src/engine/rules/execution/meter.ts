import {
  type AnyJson,
  isJsonArray,
  isJsonNumber,
  MAX_JSON_DEPTH,
  type MutableJson,
  membersOf,
} from '../../json/index.ts'
import { Fault } from '../language/fault.ts'
import { RUN_LIMITS } from '../language/limits.ts'

/**
 * Processor time of this process in milliseconds. On a busy machine, time in which a rule waited for the processor does
 * not count.
 */
export interface Stopwatch {
  worked(): number
}

/** Milliseconds of wall time for which a reading is reused: asking the system costs as much as a step. */
const ANSWER_AGE = 1

function machineStopwatchOf(): Stopwatch {
  let readAt = Number.NEGATIVE_INFINITY
  let read = 0
  return {
    worked() {
      const now = performance.now()
      if (now - readAt < ANSWER_AGE) return read
      const { user, system } = process.cpuUsage()
      readAt = now
      read = (user + system) / 1000
      return read
    },
  }
}

/** Measures the processor time of this process. */
export const machineStopwatch: Stopwatch = machineStopwatchOf()

/**
 * The longest work between two looks at the time, in milliseconds on a body of 1 MiB. A rule is stopped this long
 * before its time is up, so that it ends in time.
 */
const LARGEST_PIECE = 10

/** The most of a rule's time that reading the body counts for, in milliseconds: as long as 1 MiB takes. */
const READING = 25

/** Limits a run: time for each rule and for the whole set, written bytes for the whole set. */
export class Meter {
  private until = 0
  /** End of the time of the whole set. */
  private setUntil: number | null = null
  private pausedAt = 0
  private ticks = 0
  private written = 0

  constructor(private readonly stopwatch: Stopwatch) {}

  /**
   * Starts a rule's time: before its condition, which may be the first to read the body, and when the rule resumes.
   *
   * @param left the result of `timeLeft` when the rule paused
   */
  startRule(left: number = RUN_LIMITS.milliseconds - LARGEST_PIECE): void {
    const now = this.stopwatch.worked()
    this.setUntil ??= now + RUN_LIMITS.setMilliseconds - LARGEST_PIECE
    this.until = Math.min(now + left, this.setUntil)
  }

  /** Stops the time of the rule and of its set, until {@link resume}. */
  pause(): void {
    this.pausedAt = this.stopwatch.worked()
  }

  resume(): void {
    this.excuse(this.stopwatch.worked() - this.pausedAt)
  }

  /** Milliseconds that the current rule has left. */
  timeLeft(): number {
    return this.until - this.stopwatch.worked()
  }

  /** Reads the body. Its time grows with the body, so the time over `READING` is not charged to the rule. */
  reading<Body>(read: () => Body): Body {
    const before = this.stopwatch.worked()
    const body = read()
    this.excuse(Math.max(0, this.stopwatch.worked() - before - READING))
    return body
  }

  private excuse(milliseconds: number): void {
    this.until += milliseconds
    if (this.setUntil !== null) this.setUntil += milliseconds
  }

  /** Called for each node of the body, since the sender decides how many there are. */
  tick(): void {
    this.ticks += 1
    if ((this.ticks & 255) === 0) this.checkTime()
  }

  /** @throws Fault `too_slow` */
  checkTime(): void {
    if (this.stopwatch.worked() > this.until) {
      throw new Fault(
        'too_slow',
        `The rule does not end within ${RUN_LIMITS.milliseconds} ms, or its set within ${RUN_LIMITS.setMilliseconds} ms.`,
      )
    }
  }

  /**
   * Copies a value that a step is about to write. So a body remains a tree: no value is in it twice, and it never grows
   * by more than was charged here.
   *
   * @param depth depth of the copy in the body
   * @throws Fault `too_large`
   */
  copy(value: AnyJson, depth: number): MutableJson {
    this.tick()
    checkDepth(depth)
    if (typeof value === 'string') {
      this.pay(value.length + 2)
      return value
    }
    if (value === null || typeof value === 'boolean' || isJsonNumber(value)) {
      this.pay(8)
      return value
    }
    if (isJsonArray(value)) {
      this.pay(2)
      return value.map((item) => this.copy(item, depth + 1))
    }
    const members = new Map<string, MutableJson>()
    for (const [name, member] of membersOf(value) ?? []) {
      this.pay(name.length + 4)
      members.set(name, this.copy(member, depth + 1))
    }
    return members
  }

  private pay(size: number): void {
    this.written += size
    if (this.written > RUN_LIMITS.writtenBytes) {
      throw new Fault('too_large', `The steps write more than ${RUN_LIMITS.writtenBytes} bytes.`)
    }
  }
}

/** @throws Fault `too_large` when a value would be deeper than a body may nest: code that walks bodies relies on it */
export function checkDepth(depth: number): void {
  if (depth > MAX_JSON_DEPTH)
    throw new Fault('too_large', `The body would nest more than ${MAX_JSON_DEPTH} deep.`)
}
