import { EVERY, type Segment } from '../../conditions/index.ts'
import type { MutableJson } from '../../json/index.ts'
import { Fault } from '../language/fault.ts'
import type { Meter } from './meter.ts'

/** Where a value stands: in a member of an object or in an element of a list. */
export type Place =
  | { readonly holder: Map<string, MutableJson>; readonly key: string }
  | { readonly holder: MutableJson[]; readonly key: number }

/** Every existing place that segments lead to, in the body's order. */
export function placesOf(root: MutableJson, segments: readonly Segment[], meter: Meter): Place[] {
  const places: Place[] = []
  const walk = (node: MutableJson, at: number): void => {
    meter.tick()
    const segment = segments[at]
    const last = at === segments.length - 1
    if (segment === undefined) return
    if (typeof segment === 'string') {
      if (!(node instanceof Map)) return
      const child = node.get(segment)
      if (child === undefined) return
      if (last) places.push({ holder: node, key: segment })
      else walk(child, at + 1)
      return
    }
    if (!Array.isArray(node)) return
    const indexes = segment === EVERY ? node.keys() : [segment < 0 ? node.length + segment : segment]
    for (const key of indexes) {
      const child = node[key]
      if (child === undefined) continue
      if (last) {
        meter.tick()
        places.push({ holder: node, key })
      } else walk(child, at + 1)
    }
  }
  walk(root, 0)
  return places
}

export function valueAt(place: Place): MutableJson {
  const value = Array.isArray(place.holder)
    ? place.holder[Number(place.key)]
    : place.holder.get(String(place.key))
  return value ?? null
}

export function replaceAt({ holder, key }: Place, value: MutableJson): void {
  if (Array.isArray(holder)) holder[Number(key)] = value
  else holder.set(String(key), value)
}

/** Takes values out; the elements that are left close up. Places are positions before anything is taken. */
export function removePlaces(places: readonly Place[]): void {
  const fromLists = new Map<MutableJson[], Set<number>>()
  for (const { holder, key } of places) {
    if (!Array.isArray(holder)) {
      holder.delete(String(key))
      continue
    }
    const keys = fromLists.get(holder) ?? new Set()
    keys.add(Number(key))
    fromLists.set(holder, keys)
  }
  for (const [list, keys] of fromLists) {
    let kept = 0
    list.forEach((item, index) => {
      if (keys.has(index)) return
      list[kept] = item
      kept += 1
    })
    list.length = kept
  }
}

/**
 * What is left of a node when only the named parts stay, in the body's order; undefined when nothing does. The node
 * itself when all of it stays.
 */
export function reduceTo(
  node: MutableJson,
  paths: readonly (readonly Segment[])[],
  depth: number,
  meter: Meter,
): MutableJson | undefined {
  meter.tick()
  if (paths.some((path) => path.length === depth)) return node
  if (node instanceof Map) {
    const byName = Map.groupBy(paths, (path) => path[depth])
    const members = new Map<string, MutableJson>()
    let same = true
    for (const [name, member] of node) {
      const below = byName.get(name)
      const left = below === undefined ? undefined : reduceTo(member, below, depth + 1, meter)
      if (left !== undefined) members.set(name, left)
      if (left !== member) same = false
      meter.tick()
    }
    if (same) return members.size > 0 ? node : undefined
    return members.size > 0 ? members : undefined
  }
  if (!Array.isArray(node)) return undefined
  const every = paths.filter((path) => path[depth] === EVERY)
  const byIndex = Map.groupBy(paths, (path) => {
    const segment = path[depth]
    return typeof segment === 'number' && segment < 0 ? node.length + segment : segment
  })
  const items: MutableJson[] = []
  let same = true
  node.forEach((item, index) => {
    const below = [...every, ...(byIndex.get(index) ?? [])]
    const left = below.length === 0 ? undefined : reduceTo(item, below, depth + 1, meter)
    if (left !== undefined) items.push(left)
    if (left !== item) same = false
    meter.tick()
  })
  if (items.length === 0) return undefined
  return same ? node : items
}

/**
 * The place that a step writes, with the objects on the way made where they are missing.
 *
 * @returns the place; its value is missing when the member is new or the index is the list's length
 * @throws Fault `type` through a scalar, `not_found_index` for an index past the end or before the start
 */
export function placeToWrite(root: MutableJson, segments: readonly Segment[]): Place {
  let node = root
  for (const [at, segment] of segments.entries()) {
    const place = childPlace(node, segment)
    if (at === segments.length - 1) return place
    const holder = place.holder
    const child = Array.isArray(holder) ? holder[Number(place.key)] : holder.get(String(place.key))
    if (child !== undefined) {
      node = child
      continue
    }
    const made: MutableJson = typeof segments[at + 1] === 'number' ? [] : new Map()
    replaceAt(place, made)
    node = made
  }
  throw new Fault('type', 'The body as a whole cannot be written.')
}

function childPlace(node: MutableJson, segment: Segment): Place {
  if (typeof segment === 'string') {
    if (node instanceof Map) return { holder: node, key: segment }
    throw new Fault(
      'type',
      `${JSON.stringify(segment)} cannot be set in ${Array.isArray(node) ? 'a list' : 'a scalar'}.`,
    )
  }
  if (typeof segment !== 'number' || !Array.isArray(node)) {
    throw new Fault('type', 'An index can be set in a list only.')
  }
  const index = segment < 0 ? node.length + segment : segment
  if (index < 0 || index > node.length) {
    throw new Fault(
      'not_found_index',
      `The list has ${node.length} elements: index ${segment} is out of reach.`,
    )
  }
  return { holder: node, key: index }
}
