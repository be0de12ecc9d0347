/**
 * Lets so many attempts of an action send at once, and the others wait in the order in which they came. They are claimed by then,
 * so that the next one goes out as soon as an answer is there, without a round trip to the database in between.
 */
export class SendingTurns {
  readonly #perAction: number
  readonly #actions = new Map<string, { sending: number; readonly waiting: (() => void)[] }>()

  /** @param perAction connections to one destination */
  constructor(perAction: number) {
    this.#perAction = perAction
  }

  /** Resolves when the attempt may send; each must be given back through {@link give}. */
  async take(actionId: string): Promise<void> {
    const action = this.#actions.get(actionId) ?? { sending: 0, waiting: [] }
    this.#actions.set(actionId, action)
    if (action.sending < this.#perAction) action.sending += 1
    else await new Promise<void>((resolve) => void action.waiting.push(resolve))
  }

  /** Gives a turn back: the one that has waited longest has it. */
  give(actionId: string): void {
    const action = this.#actions.get(actionId)
    const next = action?.waiting.shift()
    if (next !== undefined) next()
    else if (action !== undefined) {
      action.sending -= 1
      if (action.sending === 0) this.#actions.delete(actionId)
    }
  }
}
