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

/** Milliseconds that went by since some moment, on clocks that never go back. */
export interface Stopwatch {
  /** On the wall. Cheap, so it is looked at often. */
  wall(): number
  /**
   * Worked by this process: on a busy machine a rule that waits for its turn has not taken long.
   *
   * @param age how old the answer may be, in milliseconds on the wall
   */
  worked(age: number): number
}

function machineStopwatchOf(): Stopwatch {
  let readAt = Number.NEGATIVE_INFINITY
  let read = 0
  return {
    wall: () => performance.now(),
    worked(age) {
      const now = performance.now()
      if (now - readAt < age) return read
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
 * Asking the system for the time worked costs as much as a step: rules that begin so close to each other share an
 * answer, and are short of their time by no more than this.
 */
const SHARED_MILLISECONDS = 5

/** Counts what a run has taken and stops it: time for each rule, written bytes for the whole set. */
export class Meter {
  private wallUntil = 0
  private workedUntil = 0
  private ticks = 0
  private written = 0

  constructor(private readonly stopwatch: Stopwatch) {}

  startRule(): void {
    this.wallUntil = this.stopwatch.wall() + RUN_LIMITS.milliseconds
    this.workedUntil = this.stopwatch.worked(SHARED_MILLISECONDS) + RUN_LIMITS.milliseconds
  }

  /** Called once a piece of work whose size nobody chose: a step, a call, a node of the body. */
  tick(): void {
    this.ticks += 1
    if ((this.ticks & 255) === 0) this.checkTime()
  }

  /** @throws Fault `too_slow` */
  checkTime(): void {
    if (this.stopwatch.wall() > this.wallUntil && this.stopwatch.worked(0) > this.workedUntil) {
      throw new Fault('too_slow', `The rule took more than ${RUN_LIMITS.milliseconds} ms.`)
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
