import type { HttpLimits } from './httpLimits.ts'

type UnsentLimits = Pick<HttpLimits, 'unsentBytesMax' | 'unsentSeconds' | 'tickSeconds'>

/** Time limit for a client that takes nothing, or leaves much unread, since it holds our memory. */
export class UnsentDeadline {
  readonly #limits: UnsentLimits
  #seconds = 0
  /** Unsent bytes when the current wait began. */
  #bytesThen = 0

  constructor(limits: UnsentLimits) {
    this.#limits = limits
  }

  /**
   * Call once a tick.
   *
   * @param unsentBytes bytes that the client has not taken
   */
  isOver(unsentBytes: number): boolean {
    const { unsentBytesMax, unsentSeconds, tickSeconds } = this.#limits
    // A long answer must progress by `unsentBytesMax`; a short one by any amount.
    const progressMin = unsentBytes > unsentBytesMax ? unsentBytesMax : 1
    if (unsentBytes === 0 || this.#bytesThen === 0 || this.#bytesThen - unsentBytes >= progressMin) {
      this.#bytesThen = unsentBytes
      this.#seconds = 0
      return false
    }
    this.#seconds += tickSeconds
    return this.#seconds > unsentSeconds
  }
}
