/** Questions of one kind to the process at the other end of a channel. */
export class Questions<Answer> {
  readonly #send: (id: number) => void
  readonly #answerMs: number
  readonly #open = new Map<number, PromiseWithResolvers<Answer>>()
  #last = 0

  /**
   * @param send sends the question under its number
   * @param answerMs longest wait for an answer
   */
  constructor(send: (id: number) => void, answerMs: number) {
    this.#send = send
    this.#answerMs = answerMs
  }

  /** @throws Error when the other process fails, ends, or does not answer in time */
  async ask(): Promise<Answer> {
    this.#last += 1
    const id = this.#last
    const answer = Promise.withResolvers<Answer>()
    this.#open.set(id, answer)
    const timer = setTimeout(
      () => answer.reject(new Error(`no answer within ${this.#answerMs} ms`)),
      this.#answerMs,
    )
    try {
      this.#send(id)
      return await answer.promise
    } finally {
      clearTimeout(timer)
      this.#open.delete(id)
    }
  }

  /** Takes an answer; null is a failure of the other process. */
  take(id: number, answer: Answer | null): void {
    if (answer === null) this.#open.get(id)?.reject(new Error('the other process failed to answer'))
    else this.#open.get(id)?.resolve(answer)
  }

  /** Fails every open question: the other process has ended. */
  end(): void {
    for (const { reject } of this.#open.values()) reject(new Error('the other process has ended'))
  }
}

/** Answers a question: null when the answer could not be found. */
export async function answerOrNull<Answer>(find: () => Promise<Answer>): Promise<Answer | null> {
  try {
    return await find()
  } catch {
    return null
  }
}
