export interface NamedParameters<Name extends string> {
  /** SQL for a parameter: `$1`, `$2`… */
  of(name: Name): string
  /** The values in the order of the parameters. */
  values(given: Readonly<Record<Name, unknown>>): unknown[]
}

/** Numbers the parameters of a statement in this order, so that its text names them. */
export function parameters<const Name extends string>(names: readonly Name[]): NamedParameters<Name> {
  const numbers = new Map(names.map((name, index) => [name, index + 1]))
  return {
    of(name) {
      const number = numbers.get(name)
      if (number === undefined) throw new TypeError(`The statement has no parameter ${name}.`)
      return `$${number}`
    },
    values: (given) => names.map((name) => given[name]),
  }
}
