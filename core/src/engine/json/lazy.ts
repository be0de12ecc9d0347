import { JsonNumber, type LazyJson, type MutableJson, type UnopenedObject } from './value.ts'

/** The same node, an object as a map. The members of the object stay as they are. */
export function opened(node: LazyJson): LazyJson {
  if (!isUnopened(node)) return node
  const members = new Map<string, LazyJson>()
  for (const name in node) members.set(name, node[name] ?? null)
  return members
}

/** The same value with every object in it as a map. */
export function withMaps(node: LazyJson): MutableJson {
  if (typeof node !== 'object' || node === null || node instanceof JsonNumber) return node
  if (Array.isArray(node)) {
    const items: MutableJson[] = []
    for (const item of node) items.push(withMaps(item))
    return items
  }
  const members = new Map<string, MutableJson>()
  if (node instanceof Map) for (const [name, member] of node) members.set(name, withMaps(member))
  else for (const name in node) members.set(name, withMaps(node[name] ?? null))
  return members
}

/** Whether a node is an object that was not opened yet. */
export function isUnopened(node: LazyJson): node is UnopenedObject {
  return (
    typeof node === 'object' &&
    node !== null &&
    !Array.isArray(node) &&
    !(node instanceof Map) &&
    !(node instanceof JsonNumber)
  )
}
