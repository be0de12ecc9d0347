/** The share of the budget that one body uses. Call `take` again only after the previous call has resolved. */
export interface BodyShare {
  /**
   * Charges bytes that have arrived. If there is no room, the body waits, for {@link BodyBudgetLimits.waitMs} at most.
   *
   * @returns true at once when there is room; else a promise: true when the bytes were charged, false when the wait
   *   timed out or the queue is full
   */
  take(bytes: number): true | Promise<boolean>
  /**
   * Releases all but `keptBytes` bytes (default 0). Call it without an argument when the body is no longer needed. May
   * be called again.
   */
  release(keptBytes?: number): void
}

/** Limits of the memory, in bytes unless noted. */
export interface BodyBudgetLimits {
  /** For all bodies together. */
  readonly bytesMax: number
  /** For the bodies of one endpoint, and of one address. */
  readonly shareBytesMax: number
  /** Maximum wait of a body for room, in milliseconds. */
  readonly waitMs: number
}

/**
 * Bytes that have arrived and wait for room take memory, too. They may take a quarter of the limit; beyond that, bodies
 * are refused at once.
 */
const WAITING_SHARE = 1 / 4

/**
 * Bounds the memory that bodies take while they arrive and wait to be stored.
 *
 * Charges bytes when they have arrived; an announced length costs nothing. Neither an endpoint nor an address can take
 * more than its share, so that one at its limit leaves room for the others.
 * One body of each share, and one of all, may exceed the limit. Otherwise incomplete bodies that fill a share together
 * would block each other; this way they are completed one after the other.
 */
export function createBodyBudget({ bytesMax, shareBytesMax, waitMs }: BodyBudgetLimits) {
  const all = new Pool(bytesMax)
  const ofEndpoints = new Pools(shareBytesMax)
  const ofAddresses = new Pools(shareBytesMax)
  return {
    /** Bytes in use by all bodies together. */
    get takenBytes() {
      return all.takenBytes
    },
    /** @param address null when unknown */
    open(endpointId: string, address: string | null): BodyShare {
      const pools = () => [ofEndpoints.of(endpointId), ofAddresses.of(address ?? ''), all]
      return new Share(pools, waitMs)
    },
  }
}

class Share implements BodyShare {
  readonly #findPools: () => readonly Pool[]
  readonly #waitMs: number
  #pools: readonly Pool[] = []
  #takenBytes = 0
  #wanted: { readonly bytes: number; readonly settle: (isTaken: boolean) => void; pool: Pool } | undefined

  constructor(findPools: () => readonly Pool[], waitMs: number) {
    this.#findPools = findPools
    this.#waitMs = waitMs
  }

  take(bytes: number): true | Promise<boolean> {
    const full = this.#blockedBy(bytes)
    if (full === undefined) {
      this.#charge(bytes)
      return true
    }
    return full.mayWait(bytes) ? this.#wait(bytes, full) : Promise.resolve(false)
  }

  release(keptBytes = 0): void {
    this.#leave(false)
    const givenBytes = this.#takenBytes - keptBytes
    this.#takenBytes = keptBytes
    const pools = this.#pools
    if (keptBytes === 0) this.#pools = []
    for (const pool of pools) pool.give(this, givenBytes)
    for (const pool of pools) pool.wake()
  }

  /**
   * Tries again to charge the bytes that wait. If a pool has no room, the share waits for that pool.
   *
   * @returns whether the share has left this pool's queue
   */
  retry(pool: Pool): boolean {
    if (this.#wanted === undefined) return true
    const { bytes } = this.#wanted
    const full = this.#blockedBy(bytes)
    if (full === pool) return false
    if (full !== undefined) {
      pool.leave(this, bytes)
      full.enter(this, bytes)
      this.#wanted.pool = full
      return true
    }
    this.#charge(bytes)
    this.#leave(true)
    return true
  }

  #blockedBy(bytes: number): Pool | undefined {
    // A pool in which nothing is taken may have been replaced.
    if (this.#takenBytes === 0) this.#pools = this.#findPools()
    for (const pool of this.#pools) if (!pool.admits(this, bytes)) return pool
    return undefined
  }

  #charge(bytes: number): void {
    this.#takenBytes += bytes
    for (const pool of this.#pools) pool.charge(this, bytes)
  }

  #wait(bytes: number, pool: Pool): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const timer = setTimeout(() => this.#leave(false), this.#waitMs)
    const settle = (isTaken: boolean) => {
      clearTimeout(timer)
      resolve(isTaken)
    }
    this.#wanted = { bytes, settle, pool }
    pool.enter(this, bytes)
    return promise
  }

  #leave(isTaken: boolean): void {
    const wanted = this.#wanted
    if (wanted === undefined) return
    this.#wanted = undefined
    wanted.pool.leave(this, wanted.bytes)
    wanted.settle(isTaken)
  }
}

/** Memory shared by the bodies of one endpoint, of one address, or by all bodies. */
class Pool {
  readonly #bytesMax: number
  readonly #onUnused: (() => void) | undefined
  #takenBytes = 0
  /** The one body that may exceed the limit. */
  #exceeding: Share | undefined
  /** In order of arrival. */
  #waiting: Set<Share> | undefined
  #waitingBytes = 0

  constructor(bytesMax: number, onUnused?: () => void) {
    this.#bytesMax = bytesMax
    this.#onUnused = onUnused
  }

  get takenBytes(): number {
    return this.#takenBytes
  }

  admits(share: Share, bytes: number): boolean {
    if (this.#takenBytes + bytes <= this.#bytesMax) return true
    return this.#exceeding === undefined || this.#exceeding === share
  }

  charge(share: Share, bytes: number): void {
    this.#takenBytes += bytes
    if (this.#takenBytes > this.#bytesMax) this.#exceeding = share
  }

  give(share: Share, bytes: number): void {
    this.#takenBytes -= bytes
    if (this.#exceeding === share) this.#exceeding = undefined
    if (this.#takenBytes === 0 && this.#waitingBytes === 0) this.#onUnused?.()
  }

  mayWait(bytes: number): boolean {
    return this.#waitingBytes + bytes <= this.#bytesMax * WAITING_SHARE
  }

  enter(share: Share, bytes: number): void {
    this.#waiting ??= new Set()
    this.#waiting.add(share)
    this.#waitingBytes += bytes
  }

  leave(share: Share, bytes: number): void {
    if (this.#waiting?.delete(share) === true) this.#waitingBytes -= bytes
  }

  /** Called when room was released. Retries the shares that have waited longest. */
  wake(): void {
    for (const share of this.#waiting ?? []) if (!share.retry(this)) return
  }
}

/** A pool for each owner that has bodies in flight. */
class Pools {
  readonly #bytesMax: number
  readonly #pools = new Map<string, Pool>()

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  of(owner: string): Pool {
    const known = this.#pools.get(owner)
    if (known !== undefined) return known
    const pool: Pool = new Pool(this.#bytesMax, () => {
      if (this.#pools.get(owner) === pool) this.#pools.delete(owner)
    })
    this.#pools.set(owner, pool)
    return pool
  }
}
