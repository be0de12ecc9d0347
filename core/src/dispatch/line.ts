/** The most slots that a workspace gets in one turn. */
const QUANTUM = 16
/** The line is served at least this often: the passing of time, too, may make room. */
const SERVE_MS = 500
/** The line rests for so many times as long as serving it took, so that very many lanes take a tenth of a core. */
const REST = 9

interface Waiter<Lane> {
  readonly lane: Lane
  readonly most: number
  slots: number
  readonly resolve: (slots: number) => void
}

/** The slots for which lanes wait. */
export interface LineSlots<Lane> {
  /** Further slots that the lane may have, whatever others hold. If it is 0, only the end of an own send changes it. */
  own(lane: Lane): number
  /**
   * Further slots that lanes of a workspace may have, given what all others hold.
   *
   * @returns null if none of them may have any
   */
  shared(workspaceId: string): ((lane: Lane) => number) | null
  take(lane: Lane, slots: number): void
}

/**
 * Lanes that wait for slots. They get them by deficit round robin: the workspaces take turns, and within a workspace
 * its lanes in the order in which they came. Every workspace has the same weight, however many of its lanes wait. A lane
 * that holds all slots that one lane may hold is not in line: it waits for an end of its own, and delays no other.
 */
export class Line<Lane extends { readonly id: string; readonly workspaceId: string }> {
  readonly #slots: LineSlots<Lane>
  /** Waiting lanes by workspace, in the order of the next turns. */
  readonly #waiting = new Map<string, Set<Waiter<Lane>>>()
  /** Lanes at their own limits, by id. */
  readonly #full = new Map<string, Set<Waiter<Lane>>>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isServing = false
  #restsUntil = 0

  constructor(slots: LineSlots<Lane>) {
    this.#slots = slots
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  /** Workspaces of lanes in line. */
  get workspaces(): Iterable<string> {
    return this.#waiting.keys()
  }

  /** Resolves with the slots that the lane got, at most `most`; 0 once the signal has aborted. */
  join(lane: Lane, most: number, signal?: AbortSignal): Promise<number> {
    if (signal?.aborted === true) return Promise.resolve(0)
    const { promise, resolve } = Promise.withResolvers<number>()
    const waiter = { lane, most, slots: 0, resolve }
    this.#add(waiter)
    const leave = () => {
      this.#remove(waiter)
      resolve(0)
    }
    signal?.addEventListener('abort', leave, { once: true })
    return promise.finally(() => signal?.removeEventListener('abort', leave))
  }

  /** To be called when the lane has given slots back. */
  freed({ id }: Lane): void {
    const full = this.#full.get(id)
    this.#full.delete(id)
    for (const waiter of full ?? []) this.#add(waiter)
    this.#serveSoon()
  }

  #add(waiter: Waiter<Lane>): void {
    const { id, workspaceId } = waiter.lane
    if (this.#slots.own(waiter.lane) <= 0) addTo(this.#full, id, waiter)
    else {
      addTo(this.#waiting, workspaceId, waiter)
      this.#serveSoon()
    }
  }

  #remove(waiter: Waiter<Lane>): void {
    const { id, workspaceId } = waiter.lane
    removeFrom(this.#full, id, waiter)
    removeFrom(this.#waiting, workspaceId, waiter)
  }

  /** Serves the line when the work that is due now has run, once for all slots that it frees. */
  #serveSoon(): void {
    if (this.#isServing || this.isEmpty) return
    this.#isServing = true
    const serve = () => {
      this.#isServing = false
      const startedAt = performance.now()
      this.#serve()
      const endedAt = performance.now()
      this.#restsUntil = endedAt + REST * (endedAt - startedAt)
    }
    const restMs = this.#restsUntil - performance.now()
    if (restMs < 1) setImmediate(serve)
    else setTimeout(serve, restMs)
  }

  /** Hands slots out in turns until there are none for any lane. A lane that gets some in several turns goes on once. */
  #serve(): void {
    clearTimeout(this.#timer)
    const served = new Set<Waiter<Lane>>()
    for (let taken = 1; taken > 0; ) {
      taken = 0
      for (const workspaceId of [...this.#waiting.keys()]) taken += this.#turn(workspaceId, served)
    }
    for (const waiter of served) {
      this.#remove(waiter)
      waiter.resolve(waiter.slots)
    }
    if (!this.isEmpty) this.#timer = setTimeout(() => this.#serveSoon(), SERVE_MS)
  }

  #turn(workspaceId: string, served: Set<Waiter<Lane>>): number {
    let roomOf = this.#slots.shared(workspaceId)
    let deficit = QUANTUM
    for (const waiter of this.#waiting.get(workspaceId) ?? []) {
      if (deficit === 0 || roomOf === null) break
      const { lane, most } = waiter
      const slots = Math.min(most - waiter.slots, deficit, this.#slots.own(lane), roomOf(lane))
      if (slots > 0) {
        this.#slots.take(lane, slots)
        waiter.slots += slots
        deficit -= slots
        served.add(waiter)
        roomOf = this.#slots.shared(workspaceId)
      } else if (waiter.slots > 0 || this.#slots.own(lane) > 0) continue
      this.#remove(waiter)
      // Behind the other lanes of the workspace, or apart if it has reached its own limit.
      if (waiter.slots === 0) this.#add(waiter)
      else if (waiter.slots < most) addTo(this.#waiting, workspaceId, waiter)
    }
    const left = this.#waiting.get(workspaceId)
    // A workspace that got nothing keeps its place.
    if (left !== undefined && deficit < QUANTUM) {
      this.#waiting.delete(workspaceId)
      this.#waiting.set(workspaceId, left)
    }
    return QUANTUM - deficit
  }
}

function addTo<Item>(sets: Map<string, Set<Item>>, key: string, item: Item): void {
  sets.set(key, (sets.get(key) ?? new Set()).add(item))
}

function removeFrom<Item>(sets: Map<string, Set<Item>>, key: string, item: Item): void {
  const items = sets.get(key)
  items?.delete(item)
  if (items?.size === 0) sets.delete(key)
}
