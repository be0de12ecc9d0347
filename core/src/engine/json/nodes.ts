import { writeNatively } from './native.ts'
import { type AnyJson, isJsonNumber, JsonNumber, type Node, numberText } from './value.ts'

/** A member of an object node; undefined for an absent member and for a node that is no object. */
export function memberOf(node: AnyJson, name: string): AnyJson | undefined
export function memberOf(node: Node, name: string): Node
export function memberOf(node: Node, name: string): Node {
  if (node instanceof Map) return node.get(name)
  if (!isPlainObject(node)) return undefined
  return Object.hasOwn(node, name) ? node[name] : undefined
}

/** The members of an object node in their order; undefined when the node is no object. */
export function membersOf(node: AnyJson): readonly (readonly [string, AnyJson])[] | undefined
export function membersOf(node: Node): readonly (readonly [string, Node])[] | undefined
export function membersOf(node: Node): readonly (readonly [string, Node])[] | undefined {
  if (node instanceof Map) return [...node]
  return isPlainObject(node) ? Object.entries(node) : undefined
}

/** How many members an object node has; undefined when the node is no object. */
export function memberCount(node: Node): number | undefined {
  if (node instanceof Map) return node.size
  return isPlainObject(node) ? Object.keys(node).length : undefined
}

function isPlainObject(node: Node): node is Readonly<Record<string, Node>> {
  return typeof node === 'object' && node !== null && !Array.isArray(node) && !(node instanceof JsonNumber)
}

/** Compact JSON text: members in their order, numbers as they were spelled. */
export function writeJson(node: Node): string {
  if (typeof node === 'string') return JSON.stringify(node)
  if (isJsonNumber(node)) return numberText(node)
  return writeNatively(node) ?? writeByHand(node)
}

/** {@link writeJson} without `JSON.stringify`: takes every node, also objects whose names are integers. */
export function writeByHand(node: Node): string {
  if (typeof node === 'string') return JSON.stringify(node)
  if (isJsonNumber(node)) return numberText(node)
  if (Array.isArray(node)) return `[${node.map(writeByHand).join(',')}]`
  const members = membersOf(node)?.map(([name, member]) => `${JSON.stringify(name)}:${writeByHand(member)}`)
  return members === undefined ? String(node) : `{${members.join(',')}}`
}
