import { addTo, Costs, type Load } from './costs.ts'

/** Default timeout of waiting work, in milliseconds. */
export const WAIT_MS_MAX = 10_000

/**
 * Work is refused at once if the expected wait is this many times its timeout: a shorter wait may still end in time.
 */
const CERTAIN_AT = 2

/** Limits of running work, and of the wait for a turn. */
export interface TurnLimits {
  /**
   * Unit of `atOnce` and `inAll`: pieces of work by default, or their sizes. A piece that is larger than a limit runs
   * when it has all of the room.
   */
  readonly by?: 'piece' | 'size'
  /** The most work of one key that runs at once. */
  readonly atOnce: number
  /** The most work of all keys that runs at once. When it is reached, waiting keys get the next turns in rotation. */
  readonly inAll?: number
  /** Without it all work waits, and callers must bound how much there is. */
  readonly wait?: {
    /** Timeout. Work is refused after it, or at once if by recent costs it would certainly not get a turn in time. */
    readonly msMax: number
    /** Name of the waiting work, in the plural, for messages. */
    readonly noun: string
  }
}

/** Facts for estimating the duration of a piece of work. */
export interface WorkOptions {
  /**
   * Work of one kind takes about the same time for each unit of its size; by default, all work of a key is one kind.
   */
  readonly kind?: string | undefined
  /** Size in any unit; 1 by default. */
  readonly size?: number | undefined
  /** It waits for its turn as long as it takes: it is part of work that was admitted, and whose pieces are bounded. */
  readonly isAdmitted?: boolean | undefined
  /** When it aborts, waiting work leaves the line. Running work must observe the signal itself. */
  readonly signal?: AbortSignal | undefined
}

/** Work was refused: it waited too long, or would have. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong'

  /**
   * @param noun name of the waiting work, in the plural
   * @param waitMs expected wait for a turn, by the recent durations of the work before it
   */
  constructor(
    readonly noun: string,
    readonly waitMs: number,
  ) {
    super(`Too many ${noun} wait: a turn is expected in ${Math.round(waitMs)} ms.`)
  }
}

/** Ends a turn. Further calls are no-ops. `isWhole` is false for interrupted work, whose duration is not recorded. */
export type EndTurn = (isWhole?: boolean) => void

interface Line {
  readonly key: string
  /** Weight of the running work. */
  running: number
  readonly waiting: Set<Waiting>
  /** Running and waiting work. */
  readonly load: Load
  /** Time until which refused callers were asked to wait. The next one is given a later time. */
  promisedUntil: number
}

interface Work {
  readonly kind: string
  readonly size: number
  readonly weight: number
}

interface Waiting {
  readonly work: Work
  readonly begin: (end: EndTurn) => void
}

/**
 * Limits the work that runs at once in this process, for each key and in all. Other work waits: that of one key in the
 * order of arrival, and the keys take turns, so that one key with much work delays no other. With a timeout, the line
 * of a key is bounded by the expected duration of its work, not by the number of pieces.
 */
export class Turns {
  readonly #limits: TurnLimits
  readonly #inAll: number
  /** Lines of keys with running or waiting work. */
  readonly #lines = new Map<string, Line>()
  /** Lines that wait only because of other keys, in the order of their next turns. */
  readonly #ready = new Set<Line>()
  readonly #costs = new Costs()
  #running = 0

  readonly #now: () => number

  /** @param now in milliseconds, of a clock that never goes back */
  constructor(limits: TurnLimits, now: () => number = () => performance.now()) {
    this.#limits = limits
    this.#now = now
    this.#inAll = limits.inAll ?? Number.POSITIVE_INFINITY
  }

  /**
   * Waits for a turn, runs the work, and ends the turn.
   *
   * @throws LineTooLong; the signal's reason; what `work` throws
   */
  async run<Result>(
    key: string,
    work: () => Result | Promise<Result>,
    options: WorkOptions = {},
  ): Promise<Result> {
    const turn = this.begin(key, options)
    const end = turn instanceof Promise ? await turn : turn
    let isWhole = false
    try {
      const result = await work()
      isWhole = options.signal?.aborted !== true
      return result
    } finally {
      end(isWhole)
    }
  }

  /**
   * Takes a turn, synchronously if one is free.
   *
   * @returns ends the turn
   * @throws LineTooLong; the signal's reason
   */
  begin(key: string, options: WorkOptions = {}): EndTurn | Promise<EndTurn> {
    const { kind = key, size = 1, signal } = options
    signal?.throwIfAborted()
    const line = this.#lines.get(key) ?? this.#open(key)
    const work = { kind, size, weight: this.#weightOf(size) }
    // Smaller work does not pass larger work that waits.
    const isNext = line.waiting.size === 0 && this.#ready.size === 0
    if (isNext && this.#fits(line, work) && this.#running + work.weight <= this.#inAll) {
      addTo(line.load, kind, size)
      return this.#start(line, work)
    }
    const wait = options.isAdmitted === true ? undefined : this.#limits.wait
    if (wait !== undefined && this.#costs.isCertain(kind)) {
      if (this.#expectedWait(line, work) > wait.msMax * CERTAIN_AT) throw this.#refusal(line, work)
    }
    return this.#turnOf(line, work, signal, wait?.msMax)
  }

  #open(key: string): Line {
    const line = { key, running: 0, waiting: new Set<Waiting>(), load: new Map(), promisedUntil: 0 }
    this.#lines.set(key, line)
    return line
  }

  #weightOf(size: number): number {
    return this.#limits.by === 'size' ? Math.max(1, Math.min(size, this.#limits.atOnce, this.#inAll)) : 1
  }

  #fits(line: Line, { weight }: Work): boolean {
    return line.running + weight <= this.#limits.atOnce
  }

  /** Puts a line into the rotation if its next work waits only because of other keys. */
  #note(line: Line): void {
    const [next] = line.waiting
    if (next === undefined || !this.#fits(line, next.work)) this.#ready.delete(line)
    else this.#ready.add(line)
  }

  #start(line: Line, { kind, size, weight }: Work): EndTurn {
    line.running += weight
    this.#running += weight
    const isMeasured = this.#limits.wait !== undefined
    const startedAt = isMeasured ? this.#now() : 0
    let isOver = false
    return (isWhole = true) => {
      if (isOver) return
      isOver = true
      if (isMeasured && isWhole) this.#costs.note(kind, size, this.#now() - startedAt)
      addTo(line.load, kind, -size)
      line.running -= weight
      this.#running -= weight
      this.#note(line)
      this.#closeIfIdle(line)
      this.#startNext()
    }
  }

  #startNext(): void {
    for (;;) {
      const [line] = this.#ready
      const [next] = line?.waiting ?? []
      if (line === undefined || next === undefined) return
      if (this.#running + next.work.weight > this.#inAll) return
      line.waiting.delete(next)
      // The line moves to the end: the other keys come first.
      this.#ready.delete(line)
      const end = this.#start(line, next.work)
      this.#note(line)
      next.begin(end)
    }
  }

  #turnOf(
    line: Line,
    work: Work,
    signal: AbortSignal | undefined,
    msMax: number | undefined,
  ): Promise<EndTurn> {
    addTo(line.load, work.kind, work.size)
    const { promise, resolve, reject } = Promise.withResolvers<EndTurn>()
    const waiting: Waiting = {
      work,
      begin: (end) => {
        forget()
        resolve(end)
      },
    }
    const leave = () => {
      forget()
      line.waiting.delete(waiting)
      addTo(line.load, work.kind, -work.size)
      this.#note(line)
      this.#closeIfIdle(line)
      this.#startNext()
    }
    const hangUp = () => {
      leave()
      reject(signal?.reason)
    }
    const giveUp = () => {
      leave()
      reject(this.#refusal(line, work))
    }
    const timer = msMax === undefined ? undefined : setTimeout(giveUp, msMax)
    const forget = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', hangUp)
    }
    signal?.addEventListener('abort', hangUp, { once: true })
    line.waiting.add(waiting)
    this.#note(line)
    return promise
  }

  /** Expected wait of new work of the key, in milliseconds, by recent durations. */
  #expectedWait(line: Line, work: Work): number {
    return this.#costs.ofAll(line.load) / this.#parallel(work)
  }

  /** Number of pieces of one key that run at once, given the number of keys with work, if all are like this one. */
  #parallel({ weight }: Work): number {
    return Math.max(1, Math.min(this.#limits.atOnce, this.#inAll / this.#lines.size) / weight)
  }

  /** Refuses work. The wait it states allows for the callers that were refused before. */
  #refusal(line: Line, work: Work): LineTooLong {
    const now = this.#now()
    const at = Math.max(line.promisedUntil, now + this.#expectedWait(line, work))
    line.promisedUntil = at + this.#costs.of(work.kind, work.size) / this.#parallel(work)
    return new LineTooLong(this.#limits.wait?.noun ?? 'calls', at - now)
  }

  #closeIfIdle(line: Line): void {
    if (line.running === 0 && line.waiting.size === 0) this.#lines.delete(line.key)
  }
}
