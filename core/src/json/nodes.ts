import { isJsonNumber, JsonNumber, numberText } from './value.ts'

/**
 * A node is a value of a document, either as `parseJson` made it (maps) or as `JSON.parse` did (plain objects): what
 * the capture path parses once for everybody, and what rules change, are read by the same code.
 */
export type Node = unknown

/** A member of an object node; undefined for an absent member and for a node that is no object. */
export function memberOf(node: Node, name: string): Node {
  if (node instanceof Map) return node.get(name)
  if (!isPlainObject(node)) return undefined
  return Object.hasOwn(node, name) ? node[name] : undefined
}

/** The members of an object node in their order; undefined when the node is no object. */
export function membersOf(node: Node): readonly (readonly [string, Node])[] | undefined {
  if (node instanceof Map) return [...node]
  return isPlainObject(node) ? Object.entries(node) : undefined
}

function isPlainObject(node: Node): node is Readonly<Record<string, Node>> {
  return typeof node === 'object' && node !== null && !Array.isArray(node) && !(node instanceof JsonNumber)
}

/** Compact JSON text: members in their order, numbers as they were spelled. */
export function writeJson(node: Node): string {
  if (typeof node === 'string') return JSON.stringify(node)
  if (isJsonNumber(node)) return numberText(node)
  if (Array.isArray(node)) return `[${node.map(writeJson).join(',')}]`
  const members = membersOf(node)
  if (members === undefined) return String(node)
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${writeJson(member)}`).join(',')}}`
}
