import { ClientError } from '../clientError.ts'

/** A request whose repetition changed the state of the handler. */
export interface StateChange {
  readonly position: number
  readonly requestId: number
}

/** Compares fingerprints of a handler's state: after the first send of a duplicate, and after the second. */
export class StateWatch {
  readonly changes: StateChange[] = []
  #after: string | undefined

  /** @param url answers a fingerprint of the state, as text */
  constructor(private readonly url: string) {}

  /**
   * To be called after each answer, in their order.
   *
   * @throws ClientError when the URL does not answer 2xx
   */
  async note({
    position,
    requestId,
    copy,
  }: {
    readonly position: number
    readonly requestId: number
    readonly copy: number
  }): Promise<void> {
    const before = this.#after
    this.#after = await this.#read()
    if (copy === 1 && before !== this.#after) this.changes.push({ position, requestId })
  }

  async #read(): Promise<string> {
    const answer = await fetch(this.url).catch(() => undefined)
    if (answer?.ok !== true)
      throw new ClientError(`--state-url does not answer: ${answer?.status ?? 'no connection'}.`, [
        'It must answer 2xx with a text that changes when the state of the handler does.',
      ])
    return await answer.text()
  }
}
