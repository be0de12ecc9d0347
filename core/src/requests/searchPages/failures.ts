/** Errors of independent pieces of work, of which one must not end the others. */
export class Failures {
  readonly #errors: unknown[] = []

  /** The result of a piece; undefined if it failed. */
  async unless<Result>(piece: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await piece()
    } catch (error) {
      this.#errors.push(error)
      return undefined
    }
  }

  /** @throws the error of the only piece that failed, or an AggregateError of several */
  throwAny(): void {
    if (this.#errors.length === 1) throw this.#errors[0]
    if (this.#errors.length > 1)
      throw new AggregateError(this.#errors, `${this.#errors.length} pieces of work failed.`)
  }
}
