/** The most slots that a workspace gets in one turn. */
const QUANTUM = 16
/** The line is served at least this often: the passing of time, too, may make room. */
const SERVE_MS = 500

interface Waiter<Lane> {
  readonly lane: Lane
  readonly most: number
  readonly resolve: (slots: number) => void
}

/**
 * Lanes that wait for slots. They get them by deficit round robin: the workspaces take turns, and within a workspace
 * its lanes in the order in which they came. Every workspace has the same weight, however many of its lanes wait.
 */
export class Line<Lane extends { readonly workspaceId: string }> {
  /** Waiting lanes by workspace, in the order of the next turns. */
  readonly #waiting = new Map<string, Set<Waiter<Lane>>>()
  readonly #hold: (lane: Lane, most: number) => number
  #timer: ReturnType<typeof setTimeout> | undefined
  #isServing = false

  /** @param hold takes up to `most` slots for a lane. Returns the number taken. */
  constructor(hold: (lane: Lane, most: number) => number) {
    this.#hold = hold
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  /** Resolves with the slots that the lane got; 0 once the signal has aborted. */
  join(lane: Lane, most: number, signal?: AbortSignal): Promise<number> {
    if (signal?.aborted === true) return Promise.resolve(0)
    const { promise, resolve } = Promise.withResolvers<number>()
    const waiter = { lane, most, resolve }
    const waiters = this.#waiting.get(lane.workspaceId) ?? new Set()
    this.#waiting.set(lane.workspaceId, waiters.add(waiter))
    const leave = () => {
      this.#remove(waiter)
      resolve(0)
    }
    signal?.addEventListener('abort', leave, { once: true })
    this.serveSoon()
    return promise.finally(() => signal?.removeEventListener('abort', leave))
  }

  /** Serves the line when the work that is due now has run, once for all slots that it frees. */
  serveSoon(): void {
    if (this.#isServing || this.isEmpty) return
    this.#isServing = true
    setImmediate(() => {
      this.#isServing = false
      this.#serve()
    })
  }

  #serve(): void {
    clearTimeout(this.#timer)
    for (let taken = 1; taken > 0; ) {
      taken = 0
      for (const workspaceId of [...this.#waiting.keys()]) taken += this.#turn(workspaceId)
    }
    if (!this.isEmpty) this.#timer = setTimeout(() => this.serveSoon(), SERVE_MS)
  }

  #turn(workspaceId: string): number {
    let deficit = QUANTUM
    for (const waiter of this.#waiting.get(workspaceId) ?? []) {
      const slots = this.#hold(waiter.lane, Math.min(waiter.most, deficit))
      if (slots === 0) continue
      this.#remove(waiter)
      waiter.resolve(slots)
      deficit -= slots
      if (deficit === 0) break
    }
    const left = this.#waiting.get(workspaceId)
    // A workspace that got nothing keeps its place.
    if (left !== undefined && deficit < QUANTUM) {
      this.#waiting.delete(workspaceId)
      this.#waiting.set(workspaceId, left)
    }
    return QUANTUM - deficit
  }

  #remove(waiter: Waiter<Lane>): void {
    const { workspaceId } = waiter.lane
    const waiters = this.#waiting.get(workspaceId)
    waiters?.delete(waiter)
    if (waiters?.size === 0) this.#waiting.delete(workspaceId)
  }
}
