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
  if (typeof node === 'string') return quoted(node)
  if (isJsonNumber(node)) return numberText(node)
  if (node instanceof Map) {
    let text = ''
    for (const [name, member] of node)
      text += `${text === '' ? '{' : ','}${quoted(name)}:${writeJson(member)}`
    return text === '' ? '{}' : `${text}}`
  }
  if (Array.isArray(node)) {
    let text = ''
    for (const item of node) text += `${text === '' ? '[' : ','}${writeJson(item)}`
    return text === '' ? '[]' : `${text}]`
  }
  return isPlainObject(node) ? writeJson(new Map(Object.entries(node))) : String(node)
}

/** What `JSON.stringify` would escape; most text holds none of it, and is only put in quotes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 escapes exactly these.
const ESCAPED = /["\\\x00-\x1f\ud800-\udfff]/

function quoted(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`
}
