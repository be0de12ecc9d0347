import type { HttpLimits } from './httpLimits.ts'

type UnsentLimits = Pick<HttpLimits, 'unsentBytesMax' | 'unsentSeconds' | 'tickSeconds'>

/** How long an answer may wait for its client: one that takes nothing, or leaves much unread, holds memory that is ours. */
export class UnsentDeadline {
  readonly #limits: UnsentLimits
  #seconds = 0
  /** When the time began to count. */
  #bytesThen = 0

  constructor(limits: UnsentLimits) {
    this.#limits = limits
  }

  /**
   * To be asked once a tick.
   *
   * @param unsentBytes that the client has not taken
   */
  isOver(unsentBytes: number): boolean {
    const { unsentBytesMax, unsentSeconds, tickSeconds } = this.#limits
    // A long answer must go on by as much as may wait; a short one by anything.
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
