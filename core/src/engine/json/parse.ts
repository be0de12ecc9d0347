import { needsHandForLooks, readNatively, writeNatively } from './native.ts'
import { readByHand } from './readByHand.ts'
import {
  type AnyJson,
  isJsonNumber,
  JsonNumber,
  type LazyJson,
  type MutableJson,
  type Node,
  numberForLooks,
  numberText,
  toPlain,
  type UnopenedObject,
} from './value.ts'

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
  const members = node instanceof Map ? node : membersOf(node)
  if (members === undefined) return String(node)
  let text = '{'
  for (const [name, member] of members)
    text += `${text === '{' ? '' : ','}${JSON.stringify(name)}:${writeByHand(member)}`
  return `${text}}`
}

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
  return isPlainObject(node) && !(node instanceof Map)
}

/** How deep arrays and objects may nest: deeper text is not read at all. */
export const MAX_JSON_DEPTH = 256

/** How deep text that we stored may nest: a document as it was sent may stand within a few lists and objects of ours. */
export const STORED_JSON_DEPTH = MAX_JSON_DEPTH + 8

/**
 * Reads JSON text (RFC 8259) losslessly: order of members and digits of numbers are kept. If a name occurs twice, the
 * last one counts. Linear in the length of the text; recursion is bounded by `maxDepth`.
 *
 * @returns undefined when the text is not JSON or nests deeper than `maxDepth`
 */
export function parseJson(
  text: string,
  maxDepth: number = MAX_JSON_DEPTH,
): { value: MutableJson } | undefined {
  const read = readNatively(text, maxDepth)
  return read === undefined ? readByHand(text, maxDepth) : { value: withMaps(read.value) }
}

/** {@link parseJson} for a document of which little will be changed: an object becomes a map when it is `opened`. */
export function parseLazily(text: string): { value: LazyJson } | undefined {
  return readNatively(text, MAX_JSON_DEPTH) ?? readByHand(text, MAX_JSON_DEPTH)
}

/**
 * Reads JSON text to look up single values with {@link memberOf}, not to print it: members may change places, but a long
 * or huge number keeps its digits. Several times as fast as a lossless read; every capture with conditions comes through
 * here.
 *
 * @returns undefined when the text is not JSON; the caller has checked how deep it nests
 */
export function parseForLooks(text: string): { value: Node } | undefined {
  if (needsHandForLooks(text)) return readByHand(text, MAX_JSON_DEPTH, numberForLooks)
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** JSON text of a call. Rules and conditions are stored as it spells them. */
export class SentJson {
  readonly #textOf: () => string
  #document: Node | null = null

  /** @param text a function that makes the text when it is first asked for */
  constructor(text: string | (() => string)) {
    this.#textOf = typeof text === 'string' ? () => text : text
  }

  get text(): string {
    return this.#textOf()
  }

  /**
   * The text of one part, with numbers spelled and members ordered as they were sent. The whole text is read once for
   * all parts, when the first is asked for.
   *
   * @returns undefined when there is no such part
   */
  part(path: readonly (string | number)[]): string | undefined {
    if (this.#document === null) this.#document = parseLazily(this.text)?.value
    let node = this.#document
    for (const part of path) node = Array.isArray(node) ? node[Number(part)] : memberOf(node, String(part))
    return node === undefined ? undefined : writeJson(node)
  }

  /** One part as a text of its own, which is empty if there is no such part. Nothing is read before it is asked for. */
  within(path: readonly (string | number)[]): SentJson {
    return path.length === 0 ? this : new SentJson(() => this.part(path) ?? '')
  }
}

/**
 * JSON text that we stored, as a value for an answer: `JSON.stringify` prints its numbers as they were spelled.
 *
 * @throws Error when it is not JSON; all stored text is
 */
export function shownJson(text: string): unknown {
  const read = parseJson(text, STORED_JSON_DEPTH)
  if (read === undefined) throw new Error('Stored JSON text is not readable.')
  return toPlain(read.value)
}
