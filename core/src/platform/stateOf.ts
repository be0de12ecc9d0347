/**
 * Keeps state of a process under the object that it belongs to, e.g. a handle of the database: two services in one
 * process share none, and it goes with the object.
 *
 * @param make makes the state of an object when it is first asked for
 * @returns the state of an object
 */
export function stateOf<Owner extends object, State>(make: () => State): (owner: Owner) => State {
  const states = new WeakMap<Owner, State>()
  return (owner) => {
    const known = states.get(owner)
    if (known !== undefined) return known
    const made = make()
    states.set(owner, made)
    return made
  }
}
