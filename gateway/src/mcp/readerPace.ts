/**
 * Lets the maker of a stream wait for its reader. The stream of the protocol's own code keeps all that it is given, so
 * without it a client that reads slowly would fill the memory.
 */
export class ReaderPace {
  #asked = Promise.withResolvers<void>()

  /** Resolves when the reader has asked for more than it had, or has gone. */
  readonly asked = (): Promise<void> => this.#asked.promise

  /** The same answer, whose reads are noticed. */
  watch(answer: Response): Response {
    if (answer.body === null) return answer
    const reader = answer.body.getReader()
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          this.#asked.resolve()
          const { done, value } = await reader.read()
          if (done) return controller.close()
          this.#asked = Promise.withResolvers()
          controller.enqueue(value)
        },
        cancel: async (reason) => {
          this.#asked.resolve()
          await reader.cancel(reason)
        },
      },
      { highWaterMark: 0 },
    )
    return new Response(body, answer)
  }
}
