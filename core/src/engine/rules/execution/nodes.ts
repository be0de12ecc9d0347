import { EVERY, type Segment, segmentIn } from '../../conditions/index.ts'
import { isUnopened, type LazyJson, opened, type UnopenedObject } from '../../json/index.ts'
import { Fault } from '../language/fault.ts'
import type { Meter } from './meter.ts'

/** Place of a value: a member of an object or an element of a list. */
export type Place =
  | { readonly holder: Map<string, LazyJson>; readonly key: string }
  | { readonly holder: LazyJson[]; readonly key: number }

/**
 * The place at the end of segments for a step that takes one value; undefined when there is none.
 *
 * @throws Fault `type` where `.*` leads into a list
 */
export function placeOf(root: LazyJson, segments: readonly Segment[], meter: Meter): Place | undefined {
  const [place] = placesOf(root, segments, meter, { every: false })
  return place
}

/**
 * Every existing place at the end of segments, in the body's order. Objects on the way are opened, for changes.
 *
 * @throws Fault `type` where a segment means every element, unless `every`
 */
export function placesOf(
  root: LazyJson,
  segments: readonly Segment[],
  meter: Meter,
  { every }: { readonly every: boolean } = { every: true },
): Place[] {
  const places: Place[] = []
  const walk = (node: LazyJson, at: number): void => {
    meter.tick()
    const written = segments[at]
    const last = at === segments.length - 1
    if (written === undefined) return
    const segment = segmentIn(written, Array.isArray(node))
    if (typeof segment === 'string') {
      if (!(node instanceof Map)) return
      const child = node.get(segment)
      if (child === undefined) return
      const place = { holder: node, key: segment }
      if (last) places.push(place)
      else walk(openedAt(place, child), at + 1)
      return
    }
    if (!Array.isArray(node)) return
    if (segment === EVERY && !every) throw notOne()
    const indexes = segment === EVERY ? node.keys() : [segment < 0 ? node.length + segment : segment]
    for (const key of indexes) {
      const child = node[key]
      if (child === undefined) continue
      const place = { holder: node, key }
      if (last) {
        meter.tick()
        places.push(place)
      } else walk(openedAt(place, child), at + 1)
    }
  }
  walk(root, 0)
  return places
}

function notOne(): Fault {
  return new Fault('type', '".*" is every element of a list: this step takes one value.')
}

/** The present value of a place; undefined when there is none. */
export function valueIn({ holder, key }: Place): LazyJson | undefined {
  return Array.isArray(holder) ? holder[Number(key)] : holder.get(String(key))
}

/** {@link valueIn} with null for none. */
export function placedValue(place: Place): LazyJson {
  return valueIn(place) ?? null
}

/** Changes the holder in place; a member that it lacks is added at the end. */
export function replaceAt({ holder, key }: Place, value: LazyJson): void {
  if (Array.isArray(holder)) holder[Number(key)] = value
  else holder.set(String(key), value)
}

function openedAt(place: Place, value: LazyJson): LazyJson {
  const open = opened(value)
  if (open !== value) replaceAt(place, open)
  return open
}

/** Removes values; later elements move up. Places are positions before any removal. */
export function removePlaces(places: readonly Place[], meter: Meter): void {
  const fromLists = new Map<LazyJson[], Set<number>>()
  for (const { holder, key } of places) {
    meter.tick()
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

/** Paths as a prefix tree: built once a rule, walked once a delivery. */
export interface KeepTree {
  /** A path ends here: everything below is kept. */
  isWhole: boolean
  readonly names: Map<string, KeepTree>
  readonly indexes: Map<number, KeepTree>
  /** Keyed by the text after the dot: members of an object, and elements of a list. */
  readonly eithers: Map<string, KeepTree>
  every: KeepTree | undefined
}

export function keepTree(paths: readonly (readonly Segment[])[]): KeepTree {
  const root = newTree()
  for (const path of paths) {
    let tree = root
    for (const segment of path) tree = branchOf(tree, segment)
    tree.isWhole = true
  }
  return root
}

function newTree(): KeepTree {
  return { isWhole: false, names: new Map(), indexes: new Map(), eithers: new Map(), every: undefined }
}

function branchOf(tree: KeepTree, segment: Segment): KeepTree {
  if (typeof segment === 'string') return tree.names.getOrInsertComputed(segment, newTree)
  if (typeof segment === 'number') return tree.indexes.getOrInsertComputed(segment, newTree)
  if (typeof segment === 'object') return tree.eithers.getOrInsertComputed(segment.name, newTree)
  tree.every ??= newTree()
  return tree.every
}

function addTree(to: KeepTree, from: KeepTree): void {
  if (from.isWhole) to.isWhole = true
  for (const [name, branch] of from.names) addTree(branchOf(to, name), branch)
  for (const [index, branch] of from.indexes) addTree(branchOf(to, index), branch)
  for (const [name, branch] of from.eithers) addTree(to.eithers.getOrInsertComputed(name, newTree), branch)
  if (from.every !== undefined) addTree(branchOf(to, EVERY), from.every)
}

/**
 * Reduces a node to the named parts, in the body's order. Returns undefined when nothing is kept, and the node itself
 * when all of it is.
 */
export function reduceTo(node: LazyJson, tree: KeepTree, meter: Meter): LazyJson | undefined {
  meter.tick()
  if (tree.isWhole) return node
  if (node instanceof Map) return reduceMap(node, tree, meter)
  if (Array.isArray(node)) return reduceList(node, tree, meter)
  return isUnopened(node) ? reduceUnopened(node, tree, meter) : undefined
}

function reduceMap(
  node: Map<string, LazyJson>,
  tree: KeepTree,
  meter: Meter,
): Map<string, LazyJson> | undefined {
  const members = new Map<string, LazyJson>()
  let isSame = true
  for (const [name, member] of node) {
    meter.tick()
    const below = treeOfMember(tree, name)
    const left = below === undefined ? undefined : reduceTo(member, below, meter)
    if (left !== undefined) members.set(name, left)
    if (left !== member) isSame = false
  }
  if (members.size === 0) return undefined
  return isSame ? node : members
}

function reduceUnopened(node: UnopenedObject, tree: KeepTree, meter: Meter): UnopenedObject | undefined {
  const members: Record<string, LazyJson> = {}
  let isEmpty = true
  let isSame = true
  for (const name in node) {
    meter.tick()
    const below = treeOfMember(tree, name)
    const member = node[name] ?? null
    const left = below === undefined ? undefined : reduceTo(member, below, meter)
    if (left !== undefined) {
      members[name] = left
      isEmpty = false
    }
    if (left !== member) isSame = false
  }
  if (isEmpty) return undefined
  return isSame ? node : members
}

function reduceList(node: LazyJson[], tree: KeepTree, meter: Meter): LazyJson[] | undefined {
  const items: LazyJson[] = []
  let isSame = true
  for (const [index, item] of node.entries()) {
    meter.tick()
    const below = treeOfElement(tree, index, node.length)
    const left = below === undefined ? undefined : reduceTo(item, below, meter)
    if (left !== undefined) items.push(left)
    if (left !== item) isSame = false
  }
  if (items.length === 0) return undefined
  return isSame ? node : items
}

/** The tree of a member, which a name may address, or `.0` or `.*`. */
function treeOfMember({ names, eithers }: KeepTree, name: string): KeepTree | undefined {
  return eithers.size === 0 ? names.get(name) : together([names.get(name), eithers.get(name)])
}

/** The tree of an element, which `[*]`, its index, or its index from the end may address, with brackets or a dot. */
function treeOfElement(tree: KeepTree, index: number, length: number): KeepTree | undefined {
  const { every, indexes, eithers } = tree
  if (indexes.size === 0 && eithers.size === 0) return every
  const dotted = [eithers.get('*'), eithers.get(`${index}`), eithers.get(`${index - length}`)]
  return together([every, indexes.get(index), indexes.get(index - length), ...dotted])
}

function together(branches: readonly (KeepTree | undefined)[]): KeepTree | undefined {
  const trees = branches.filter((tree) => tree !== undefined)
  if (trees.length <= 1) return trees[0]
  const all = newTree()
  for (const tree of trees) addTree(all, tree)
  return all
}

/**
 * The place that a step writes. Missing objects on the way are made.
 *
 * @returns the place; its value is missing when the member is new or the index is the list's length
 * @throws Fault `type` through a scalar or where `.*` leads into a list, `not_found_index` for an index past the end or
 *   before the start
 */
export function placeToWrite(root: LazyJson, segments: readonly Segment[]): Place {
  let node = root
  for (const [at, segment] of segments.entries()) {
    const place = childPlace(node, segment)
    if (at === segments.length - 1) return place
    const child = valueIn(place)
    if (child !== undefined) {
      node = openedAt(place, child)
      continue
    }
    const made: LazyJson = typeof segments[at + 1] === 'number' ? [] : new Map()
    replaceAt(place, made)
    node = made
  }
  throw new Fault('type', 'The body as a whole cannot be written.')
}

function childPlace(node: LazyJson, written: Segment): Place {
  const segment = segmentIn(written, Array.isArray(node))
  if (typeof segment === 'string') {
    if (node instanceof Map) return { holder: node, key: segment }
    throw new Fault(
      'type',
      `${JSON.stringify(segment)} cannot be set in ${Array.isArray(node) ? 'a list' : 'a scalar'}.`,
    )
  }
  if (segment === EVERY && Array.isArray(node)) throw notOne()
  if (typeof segment !== 'number' || !Array.isArray(node)) {
    throw new Fault('type', 'An index can be set in a list only.')
  }
  const index = segment < 0 ? node.length + segment : segment
  if (index < 0 || index > node.length) {
    throw new Fault(
      'not_found_index',
      `The list has ${node.length} elements: index ${segment} is out of range.`,
    )
  }
  return { holder: node, key: index }
}
