import type { Sender } from '../evaluationTurns.ts'

/** Answers that wait at once for one endpoint, in one process. */
const OF_ENDPOINT_MAX = 2000
/** Bytes of filled-in bodies that wait at once in one process. */
const BYTES_MAX = 64 * 1024 * 1024

interface Holder {
  readonly endpointId: string
  readonly workspaceId: string
}

/** Places and memory that a workspace uses. */
interface Account {
  count: number
  bytes: number
  readonly ofEndpoints: Map<string, number>
  /** Places of senders that have half-closed, the oldest first. */
  readonly yielding: Set<WaitingPlace>
}

/** The place of one answer that waits. */
export interface Place {
  /** Aborts when the wait is to end early: the sender has gone, or another answer needs the place. */
  readonly ended: AbortSignal
  /** Watches the sender from now on. */
  follow(sender: Sender): void
  /** Gives the place back. May be called again. */
  leave(): void
}

/**
 * Counts the answers of a process that wait, for a time or for a receiver. A workspace has at most as many of all places
 * as it leaves free, so that one can never take the places of all. A sender that has half-closed may be gone: it is
 * answered at once when its workspace has no other place for a new answer.
 */
export class WaitingAnswers {
  readonly #countMax: number
  readonly #accounts = new Map<string, Account>()
  #count = 0
  #bytes = 0

  /** @param countMax answers that wait at once */
  constructor(countMax: number) {
    this.#countMax = countMax
  }

  /**
   * Takes a place.
   *
   * @param bytes memory that the answer holds while it waits
   * @returns undefined without a free one
   */
  enter(holder: Holder, bytes: number): Place | undefined {
    const account = this.#accounts.get(holder.workspaceId) ?? newAccount()
    while (!this.#hasRoom(account, holder, bytes)) {
      const yielded = placeToYield(account, holder)
      if (yielded === undefined) return undefined
      yielded.yieldNow()
    }
    this.#accounts.set(holder.workspaceId, account)
    const change = (sign: 1 | -1) => {
      this.#count += sign
      this.#bytes += sign * bytes
      account.count += sign
      account.bytes += sign * bytes
      account.ofEndpoints.set(holder.endpointId, ofEndpoint(account, holder.endpointId) + sign)
    }
    change(1)
    return new WaitingPlace(holder, account.yielding, () => {
      change(-1)
      if (ofEndpoint(account, holder.endpointId) === 0) account.ofEndpoints.delete(holder.endpointId)
      if (account.count === 0) this.#accounts.delete(holder.workspaceId)
    })
  }

  #hasRoom(account: Account, { endpointId }: Holder, bytes: number): boolean {
    return (
      ofEndpoint(account, endpointId) < OF_ENDPOINT_MAX &&
      account.count < this.#countMax - this.#count &&
      (bytes === 0 || account.bytes + bytes <= BYTES_MAX - this.#bytes)
    )
  }
}

class WaitingPlace implements Place {
  readonly holder: Holder
  readonly #yielding: Set<WaitingPlace>
  readonly #ending = new AbortController()
  readonly #onLeave: () => void
  #hasLeft = false

  constructor(holder: Holder, yielding: Set<WaitingPlace>, onLeave: () => void) {
    this.holder = holder
    this.#yielding = yielding
    this.#onLeave = onLeave
  }

  get ended(): AbortSignal {
    return this.#ending.signal
  }

  follow(sender: Sender): void {
    const look = () => {
      if (this.#hasLeft) return
      if (sender.peer === 'gone') this.#ending.abort('sender_gone')
      else if (sender.peer === 'half-closed') this.#yielding.add(this)
    }
    sender.onHangUp(look)
    look()
  }

  yieldNow(): void {
    this.#ending.abort('crowded')
    this.leave()
  }

  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#yielding.delete(this)
    this.#onLeave()
  }
}

function newAccount(): Account {
  return { count: 0, bytes: 0, ofEndpoints: new Map(), yielding: new Set() }
}

/** The oldest place that a new answer may take: of the same endpoint, if that has the most. */
function placeToYield(account: Account, { endpointId }: Holder): WaitingPlace | undefined {
  const isEndpointFull = ofEndpoint(account, endpointId) >= OF_ENDPOINT_MAX
  for (const place of account.yielding)
    if (!isEndpointFull || place.holder.endpointId === endpointId) return place
  return undefined
}

const ofEndpoint = ({ ofEndpoints }: Account, endpointId: string) => ofEndpoints.get(endpointId) ?? 0
