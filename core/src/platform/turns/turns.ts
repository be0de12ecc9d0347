import { addTo, Costs, type Load } from './costs.ts'

/** For so long work waits for its turn, in milliseconds, where its limits do not say otherwise. */
export const PATIENCE_MS = 10_000

/** Work is refused before it has waited where so many times its patience is expected: less may yet fit. */
const CERTAINTY = 2

/** How much may run, and how long the rest may wait. */
export interface TurnLimits {
  /** Of one key, at once. */
  readonly atOnce: number
  /** Of all keys together, at once. Where it is reached, the keys that wait have the next turns one after the other. */
  readonly inAll?: number
  /** Without it whoever comes waits, and callers see to it that they are not too many. */
  readonly patience?: {
    /** Work that has waited so long is refused; at once where recent costs leave no doubt. */
    readonly ms: number
    /** What waits, in the plural, for people. */
    readonly noun: string
  }
}

/** How a piece of work is expected to take. */
export interface WorkOptions {
  /** Work of the same kind takes about the same time for each unit of its size; all of a key by default. */
  readonly kind?: string | undefined
  /** In any unit; 1 by default. */
  readonly size?: number | undefined
  /** A caller that hangs up while it waits leaves the line; work that runs has to heed it by itself. */
  readonly signal?: AbortSignal | undefined
}

/** Work that would have waited too long, or has. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong'

  /**
   * @param noun what waits, in the plural
   * @param waitMs after this long its turn is expected to come, by what the work before it takes at present
   */
  constructor(
    readonly noun: string,
    readonly waitMs: number,
  ) {
    super(`Too many ${noun} wait: a turn is expected in ${Math.round(waitMs)} ms.`)
  }
}

/** Gives a turn back; once is enough. What was broken off says nothing of what such work takes: `isWhole` is false for it. */
export type EndTurn = (isWhole?: boolean) => void

interface Line {
  readonly key: string
  running: number
  readonly waiting: Set<Waiting>
  /** What runs and waits. */
  readonly load: Load
  /** Those who were refused come back until then, by `performance.now()`: the next one later. */
  promisedUntil: number
}

interface Work {
  readonly kind: string
  readonly size: number
}

interface Waiting {
  readonly work: Work
  readonly begin: (end: EndTurn) => void
}

/**
 * Lets a bounded number of pieces of work run at once in this process, of each key and of all together. The others wait: those of
 * one key in the order in which they came, and the keys take turns, so that one which asks for much delays no other. With a
 * patience the line of a key is as long as the work in it is expected to take, however many pieces that is.
 */
export class Turns {
  readonly #limits: TurnLimits
  readonly #inAll: number
  /** Of keys under which something runs or waits. */
  readonly #lines = new Map<string, Line>()
  /** Those that wait only because of other keys, in the order in which they have their next turn. */
  readonly #ready = new Set<Line>()
  readonly #costs = new Costs()
  #running = 0

  constructor(limits: TurnLimits) {
    this.#limits = limits
    this.#inAll = limits.inAll ?? Number.POSITIVE_INFINITY
  }

  /**
   * Runs the work when its turn has come, which ends with the work.
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
   * Takes a turn, at once where one is free.
   *
   * @returns ends the turn
   * @throws LineTooLong; the signal's reason
   */
  begin(key: string, { kind = key, size = 1, signal }: WorkOptions = {}): EndTurn | Promise<EndTurn> {
    signal?.throwIfAborted()
    const line = this.#lines.get(key) ?? this.#open(key)
    const work = { kind, size }
    const hasRoom = line.running < this.#limits.atOnce
    if (hasRoom && this.#running < this.#inAll) {
      addTo(line.load, kind, size)
      return this.#start(line, work)
    }
    const { patience } = this.#limits
    if (patience !== undefined && this.#costs.isCertain(kind)) {
      if (this.#expectedWait(line) > patience.ms * CERTAINTY) throw this.#refusal(line, work)
    }
    return this.#turnOf(line, work, signal)
  }

  #open(key: string): Line {
    const line = { key, running: 0, waiting: new Set<Waiting>(), load: new Map(), promisedUntil: 0 }
    this.#lines.set(key, line)
    return line
  }

  #start(line: Line, { kind, size }: Work): EndTurn {
    line.running += 1
    this.#running += 1
    const isMeasured = this.#limits.patience !== undefined
    const startedAt = isMeasured ? performance.now() : 0
    let isOver = false
    return (isWhole = true) => {
      if (isOver) return
      isOver = true
      if (isMeasured && isWhole) this.#costs.note(kind, size, performance.now() - startedAt)
      addTo(line.load, kind, -size)
      line.running -= 1
      this.#running -= 1
      if (line.waiting.size > 0) this.#ready.add(line)
      else this.#closeIfIdle(line)
      this.#startNext()
    }
  }

  #startNext(): void {
    while (this.#running < this.#inAll) {
      const [line] = this.#ready
      const [next] = line?.waiting ?? []
      if (line === undefined || next === undefined) return
      line.waiting.delete(next)
      // To the end: the other keys come first.
      this.#ready.delete(line)
      const end = this.#start(line, next.work)
      if (line.waiting.size > 0 && line.running < this.#limits.atOnce) this.#ready.add(line)
      next.begin(end)
    }
  }

  #turnOf(line: Line, work: Work, signal: AbortSignal | undefined): Promise<EndTurn> {
    const { patience } = this.#limits
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
      if (line.waiting.size === 0) this.#ready.delete(line)
      this.#closeIfIdle(line)
    }
    const hangUp = () => {
      leave()
      reject(signal?.reason)
    }
    const giveUp = () => {
      leave()
      reject(this.#refusal(line, work))
    }
    const timer = patience === undefined ? undefined : setTimeout(giveUp, patience.ms)
    const forget = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', hangUp)
    }
    signal?.addEventListener('abort', hangUp, { once: true })
    line.waiting.add(waiting)
    if (line.running < this.#limits.atOnce) this.#ready.add(line)
    return promise
  }

  /** How long a newcomer of the key would wait, in milliseconds, by what such work took lately. */
  #expectedWait(line: Line): number {
    return this.#costs.ofAll(line.load) / this.#parallel()
  }

  /** How many pieces of work of one key run at once while as many keys as now want to. */
  #parallel(): number {
    return Math.min(this.#limits.atOnce, Math.max(1, this.#inAll / this.#lines.size))
  }

  /** Each one who is refused is told to come back when those before it will have had their turns. */
  #refusal(line: Line, { kind, size }: Work): LineTooLong {
    const now = performance.now()
    const at = Math.max(line.promisedUntil, now + this.#expectedWait(line))
    line.promisedUntil = at + this.#costs.of(kind, size) / this.#parallel()
    return new LineTooLong(this.#limits.patience?.noun ?? 'calls', at - now)
  }

  #closeIfIdle(line: Line): void {
    if (line.running === 0 && line.waiting.size === 0) this.#lines.delete(line.key)
  }
}
