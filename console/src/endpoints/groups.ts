/** Endpoints that are shown together: those whose names begin with the same text before a `/`, or one alone. */
export interface Group<One> {
  /** Undefined for an endpoint alone. */
  readonly name: string | undefined
  readonly items: readonly One[]
}

/** Groups endpoints by the part of their names before the first `/`, if two have it. The order stays. */
export function groupsOf<One extends { readonly name: string }>(items: readonly One[]): Group<One>[] {
  const groups = Map.groupBy(items, ({ name }) => prefixOf(name) ?? Symbol(name))
  return [...groups].map(([name, of]) => ({
    name: typeof name === 'string' && of.length > 1 ? name : undefined,
    items: of,
  }))
}

function prefixOf(name: string): string | undefined {
  const at = name.indexOf('/')
  return at > 0 && at < name.length - 1 ? name.slice(0, at) : undefined
}
