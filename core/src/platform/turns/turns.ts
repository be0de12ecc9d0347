interface Line {
  running: number
  readonly waiting: Set<() => void>
}

/** How much may run and wait under one key. */
interface TurnLimits {
  readonly atOnce: number
  /** How many more may wait; without it no one is refused, and callers see to it that they are not too many. */
  readonly waitingMax?: number
  /** What those hear who come when so many wait. */
  readonly refusal?: () => Error
}

/**
 * Lets a bounded number of pieces of work run at once in this process, those of each key for themselves. The others wait in the order
 * in which they came: who ends hands its turn to the one that has waited longest, so that no newcomer comes in between.
 */
export class Turns {
  readonly #limits: TurnLimits
  /** Of keys under which something runs. */
  readonly #lines = new Map<string, Line>()

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  /**
   * Runs the work when its turn has come, which ends with the work.
   *
   * @param signal who hangs up while it waits leaves the line; work that runs has to heed it by itself
   * @throws the refusal; the signal's reason; what `work` throws
   */
  async run<Result>(
    key: string,
    work: () => Result | Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    signal?.throwIfAborted()
    const line = this.#lines.get(key) ?? { running: 0, waiting: new Set() }
    this.#lines.set(key, line)
    if (line.running < this.#limits.atOnce) line.running += 1
    else await this.#turnOf(line, signal)
    try {
      return await work()
    } finally {
      this.#handOn(key, line)
    }
  }

  #turnOf(line: Line, signal: AbortSignal | undefined): Promise<void> {
    const { waitingMax, refusal } = this.#limits
    if (waitingMax !== undefined && line.waiting.size >= waitingMax) {
      throw refusal?.() ?? new Error('Too many wait for their turn.')
    }
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        line.waiting.delete(begin)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', leave, { once: true })
      line.waiting.add(begin)
    })
  }

  #handOn(key: string, line: Line): void {
    const [next] = line.waiting
    if (next !== undefined) {
      line.waiting.delete(next)
      next()
      return
    }
    line.running -= 1
    if (line.running === 0) this.#lines.delete(key)
  }
}
