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
 * Milliseconds of processor time that this process has worked: on a busy machine a rule that waits for its turn has not
 * taken long.
 */
export interface Stopwatch {
  worked(): number
}

/** Asking the system costs as much as a step: an answer serves for so long, in milliseconds on the wall. */
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

/** The machine's. */
export const machineStopwatch: Stopwatch = machineStopwatchOf()

/**
 * The largest piece of work between two looks at the time, in milliseconds on a body of 1 MiB: a rule is stopped so much
 * before its time is up, so that it ends within it.
 */
const LARGEST_PIECE = 10

/** How much of a rule's time reading the body may use up, in milliseconds: as long as 1 MiB takes. */
const READING = 25

/** Counts what a run has taken and stops it: time for each rule and for the whole set, written bytes for the whole set. */
export class Meter {
  private until = 0
  /** What the rules of the set have left together. */
  private setUntil: number | null = null
  private ticks = 0
  private written = 0

  constructor(private readonly stopwatch: Stopwatch) {}

  /**
   * Before a rule's condition, which may be the first to read the body, and before it goes on.
   *
   * @param left what `timeLeft` said when it stopped
   */
  startRule(left: number = RUN_LIMITS.milliseconds - LARGEST_PIECE): void {
    const now = this.stopwatch.worked()
    this.setUntil ??= now + RUN_LIMITS.setMilliseconds - LARGEST_PIECE
    this.until = Math.min(now + left, this.setUntil)
  }

  /** Milliseconds that the present rule may still work. */
  timeLeft(): number {
    return this.until - this.stopwatch.worked()
  }

  /** Reads the body, which is work of its size: a rule is not to blame for what it takes over `READING`. */
  reading<Body>(read: () => Body): Body {
    const before = this.stopwatch.worked()
    const body = read()
    const excused = Math.max(0, this.stopwatch.worked() - before - READING)
    this.until += excused
    if (this.setUntil !== null) this.setUntil += excused
    return body
  }

  /** Called once a piece of work whose size nobody chose: a node of the body. */
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
   * A copy of a value that a step is about to write. Copies are what makes a body its own tree: nothing stands in it
   * twice, so nothing grows by more than was paid for here.
   *
   * @param depth how deep in the body the copy will stand
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

/** @throws Fault `too_large` when a value would stand deeper than a body may nest: everything that walks one relies on it */
export function checkDepth(depth: number): void {
  if (depth > MAX_JSON_DEPTH)
    throw new Fault('too_large', `The body would nest more than ${MAX_JSON_DEPTH} deep.`)
}
