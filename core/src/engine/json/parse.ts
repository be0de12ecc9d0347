import { withMaps } from './lazy.ts'
import { readNatively } from './native.ts'
import { memberOf, writeJson } from './nodes.ts'
import { readByHand } from './readByHand.ts'
import { type LazyJson, type MutableJson, type Node, toPlain } from './value.ts'

/** How deep arrays and objects may nest: deeper text is not read at all. */
export const MAX_JSON_DEPTH = 256

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
 * The text of one part of a JSON document, with numbers spelled and members ordered as they were sent. Rules and
 * conditions are stored in this form.
 *
 * @param text null when the document did not come as JSON text
 * @returns undefined when there is no such part
 */
export function memberText(text: string | null, path: readonly (string | number)[]): string | undefined {
  let node: Node = text === null ? undefined : parseJson(text)?.value
  for (const part of path) node = Array.isArray(node) ? node[Number(part)] : memberOf(node, String(part))
  return node === undefined ? undefined : writeJson(node)
}

/**
 * JSON text that we stored, as a value for an answer: `JSON.stringify` prints its numbers as they were spelled.
 *
 * @throws Error when it is not JSON; all stored text is
 */
export function shownJson(text: string): unknown {
  const read = parseJson(text)
  if (read === undefined) throw new Error('Stored JSON text is not readable.')
  return toPlain(read.value)
}
