import type { HttpLimits } from './httpLimits.ts'

type BodyLimits = Pick<
  HttpLimits,
  'bodyGraceSeconds' | 'bodyWindowSeconds' | 'bodyBytesPerSecondMin' | 'bodySeconds' | 'tickSeconds'
>

/**
 * Time limit of a body. During the grace period any speed is allowed. After it, the body must keep up a minimum rate,
 * and the whole body has a maximum duration. Time during which we do not read does not count.
 */
export class BodyDeadline {
  readonly #limits: BodyLimits
  #seconds = 0
  #windowSeconds = 0
  #windowBytes = 0

  constructor(limits: BodyLimits) {
    this.#limits = limits
  }

  begin(): void {
    this.#seconds = 0
    this.#windowSeconds = 0
    this.#windowBytes = 0
  }

  /** Counts bytes that have arrived. */
  count(bytes: number): void {
    this.#windowBytes += bytes
  }

  /** Call once a tick. */
  isOver(weDoNotRead: boolean): boolean {
    if (weDoNotRead) return false
    const { bodyGraceSeconds, bodyWindowSeconds, bodyBytesPerSecondMin, bodySeconds, tickSeconds } =
      this.#limits
    this.#seconds += tickSeconds
    if (this.#seconds > bodySeconds) return true
    if (this.#seconds <= bodyGraceSeconds) {
      this.#windowBytes = 0
      return false
    }
    this.#windowSeconds += tickSeconds
    if (this.#windowSeconds < bodyWindowSeconds) return false
    const isTooSlow = this.#windowBytes < bodyBytesPerSecondMin * bodyWindowSeconds
    this.#windowSeconds = 0
    this.#windowBytes = 0
    return isTooSlow
  }
}

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
