import { isRecord } from '../json.ts'

/** A JSON Schema of the API, read member by member. */
export type Schema = Readonly<Record<string, unknown>>

/** Every schema that may apply to the value at `path`; references and alternatives are resolved. */
export function schemasAt(root: Schema, path: readonly (string | number)[]): Schema[] {
  let now = opened(root, root)
  for (const segment of path) {
    now = now.flatMap((schema) => below(root, schema, segment))
    if (now.length === 0) return []
  }
  return now
}

/** The members that a value may have, with their descriptions. */
export function membersOf(schemas: readonly Schema[]): ReadonlyMap<string, string> {
  const members = new Map<string, string>()
  for (const { properties } of schemas) {
    if (!isRecord(properties)) continue
    for (const [name, schema] of Object.entries(properties)) {
      if (!members.has(name)) members.set(name, descriptionOf(schema))
    }
  }
  return members
}

/** The values that a schema lists. */
export function valuesOf(schemas: readonly Schema[]): unknown[] {
  const values = new Set<unknown>()
  for (const { const: only, enum: some, type } of schemas) {
    if (only !== undefined) values.add(only)
    if (Array.isArray(some)) for (const value of some) values.add(value)
    if (type === 'boolean') values.add(true).add(false)
  }
  return [...values]
}

function descriptionOf(schema: unknown): string {
  return isRecord(schema) && typeof schema.description === 'string' ? schema.description : ''
}

function below(root: Schema, schema: Schema, segment: string | number): Schema[] {
  const { additionalProperties, items, prefixItems, properties } = schema
  if (typeof segment === 'number') {
    const own = Array.isArray(prefixItems) ? prefixItems[segment] : undefined
    return opened(root, own ?? items)
  }
  const own = isRecord(properties) ? properties[segment] : undefined
  return opened(root, own ?? additionalProperties)
}

const DEPTH_MAX = 6

function opened(root: Schema, schema: unknown, depth = 0): Schema[] {
  if (!isRecord(schema) || depth > DEPTH_MAX) return []
  const { $ref } = schema
  const referred = typeof $ref === 'string' ? opened(root, resolve(root, $ref), depth + 1) : []
  const alternatives = [schema.anyOf, schema.oneOf, schema.allOf]
    .flatMap((list): unknown[] => (Array.isArray(list) ? list : []))
    .flatMap((one) => opened(root, one, depth + 1))
  return [schema, ...referred, ...alternatives]
}

function resolve(root: Schema, ref: string): unknown {
  let at: unknown = root
  for (const segment of ref.replace(/^#\/?/, '').split('/').filter(Boolean)) {
    at = isRecord(at) ? at[segment.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
  }
  return at
}
