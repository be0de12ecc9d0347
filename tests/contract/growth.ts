/** JSON from a file. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** Members with prose, which may be reworded within v1. */
const WORDS = new Set(['description', 'summary', 'example', 'examples', 'title', 'x-displayName', 'version'])

/**
 * Lists the parts that a newer description removed or changed, as `where: what`. v1 is append-only: a newer description
 * may add operations, parameters, members, values and errors, take more input than before, and reword; nothing else.
 */
export function brokenPromises(older: Json, newer: Json): readonly string[] {
  return compare(older, newer, [], newer)
}

function compare(
  older: Json,
  given: Json | undefined,
  at: readonly string[],
  description: Json,
): readonly string[] {
  // A schema may be moved to a name and stay the same.
  const newer = isReference(given) && !isReference(older) ? referred(given.$ref, description) : given
  const name = at.at(-1) ?? ''
  if (WORDS.has(name) && !isMemberList(at.slice(0, -1))) return []
  if (isInput(at) && isRelaxed(name, older, newer) && !isMemberList(at.slice(0, -1))) return []
  if (newer === undefined) return [`${at.join('/')}: gone`]
  if (Array.isArray(older)) {
    if (!Array.isArray(newer)) return [`${at.join('/')}: changed`]
    return name === 'required' && isInput(at)
      ? added(older, newer).map((member) => `${at.join('/')}: ${member} is required now`)
      : compareLists(older, newer, at, description)
  }
  if (isObject(older)) {
    if (!isObject(newer)) return [`${at.join('/')}: changed`]
    if (isNullOnly(older) && newer.type === 'null') return []
    const mayBranch = older.anyOf === undefined && (isInput(at) || older.type === undefined)
    const alternative = mayBranch ? firstAlternative(newer) : undefined
    if (alternative !== undefined) return compare(older, alternative, at, description)
    return [
      ...Object.entries(older).flatMap(([member, value]) =>
        compare(value, newer[member], [...at, member], description),
      ),
      ...(isInput(at) && name !== 'properties' ? newlyRequired(older, newer, at) : []),
    ]
  }
  return older === newer ? [] : [`${at.join('/')}: ${JSON.stringify(older)} became ${JSON.stringify(newer)}`]
}

/** Compares lists. Lists of names may grow in any order; parameters are matched by name, alternatives by index. */
function compareLists(
  older: readonly Json[],
  newer: readonly Json[],
  at: readonly string[],
  description: Json,
): readonly string[] {
  if (older.every((item) => typeof item !== 'object')) {
    return older
      .filter((item) => !newer.includes(item))
      .map((item) => `${at.join('/')}: ${String(item)} is gone`)
  }
  return older.flatMap((item, place) => {
    const key = isObject(item) && typeof item.name === 'string' ? item.name : undefined
    const match =
      key === undefined ? newer[place] : newer.find((other) => isObject(other) && other.name === key)
    return compare(item, match, [...at, key ?? String(place)], description)
  })
}

function isReference(schema: Json | undefined): schema is { readonly $ref: string } {
  return isObject(schema) && typeof schema.$ref === 'string'
}

/** The part of a description at `#/components/schemas/Name`; undefined if it is missing. */
function referred(reference: string, description: Json): Json | undefined {
  return reference
    .split('/')
    .slice(1)
    .reduce<Json | undefined>((part, name) => (isObject(part) ? part[name] : undefined), description)
}

/** A member that was optional and is required now. */
function newlyRequired(
  older: { readonly [name: string]: Json },
  newer: { readonly [name: string]: Json },
  at: readonly string[],
): readonly string[] {
  if (older.required !== undefined || !Array.isArray(newer.required)) return []
  return newer.required.map((member) => `${at.join('/')}: ${String(member)} is required now`)
}

/** Whether a schema is only null, which JSON Schema can express in two ways. */
function isNullOnly({ enum: values }: { readonly [name: string]: Json }): boolean {
  return Array.isArray(values) && values.length === 1 && values[0] === null
}

/**
 * The first alternative of a schema. It must equal the older schema if the input may now be something else, too: null,
 * for example, or one of several types where there was no type.
 */
function firstAlternative({ anyOf, ...rest }: { readonly [name: string]: Json }): Json | undefined {
  const first = Array.isArray(anyOf) ? anyOf[0] : undefined
  return isObject(first) ? { ...first, ...rest } : undefined
}

/**
 * Whether a bound of an input was removed or widened. Patterns and formats cannot be compared; they may only be
 * removed.
 */
function isRelaxed(name: string, older: Json, newer: Json | undefined): boolean {
  if (BOUNDS.has(name) && newer === undefined) return true
  if (name === 'required' && older === true) return newer === false
  if (typeof older !== 'number' || typeof newer !== 'number') return false
  return LOWER_BOUNDS.has(name) ? newer <= older : UPPER_BOUNDS.has(name) && newer >= older
}

const LOWER_BOUNDS = new Set(['minimum', 'minLength', 'minItems'])
const UPPER_BOUNDS = new Set(['maximum', 'maxLength', 'maxItems'])
const BOUNDS = new Set([...LOWER_BOUNDS, ...UPPER_BOUNDS, 'pattern', 'format', 'required'])

function added(older: readonly Json[], newer: readonly Json[]): readonly Json[] {
  return newer.filter((item) => !older.includes(item))
}

const isInput = (at: readonly string[]) => at.includes('requestBody') || at.includes('parameters')

/** Whether the members of the object at `at` are named by the API rather than by OpenAPI. */
const isMemberList = (at: readonly string[]) =>
  ['properties', 'schemas', 'paths', 'responses'].includes(at.at(-1) ?? '')

function isObject(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
