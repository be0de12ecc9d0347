import type { HttpLimits } from './httpLimits.ts'

type BodyLimits = Pick<
  HttpLimits,
  'bodyGraceSeconds' | 'bodyWindowSeconds' | 'bodyBytesPerSecondMin' | 'bodySeconds' | 'tickSeconds'
>

/**
 * How long a body may take: for a while whatever it likes, then only as long as it keeps coming, and never longer than
 * the whole time. Time in which we do not read is not the sender's.
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

  /** So many bytes have arrived. */
  count(bytes: number): void {
    this.#windowBytes += bytes
  }

  /** To be asked once a tick. */
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
