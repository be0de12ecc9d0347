import { streamOf } from '../http/longAnswer.ts'

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
    const reader = answer.body?.getReader()
    if (reader === undefined) return answer
    const pieces = {
      next: async () => {
        this.#asked.resolve()
        const piece = await reader.read()
        if (!piece.done) this.#asked = Promise.withResolvers()
        return piece
      },
      return: async () => {
        this.#asked.resolve()
        await reader.cancel()
        return { done: true as const, value: undefined }
      },
    }
    return new Response(streamOf(pieces), answer)
  }
}
