import { MAX_JSON_DEPTH, type Node, nestsDeeper, parseForLooks } from '../../engine/json/index.ts'

/**
 * Parses a page to look up single values, of which nothing is stored. Undefined for text that is not JSON or nests too
 * deep.
 */
export function looksOf(text: string): Node {
  if (nestsDeeper(text, MAX_JSON_DEPTH)) return undefined
  try {
    return parseForLooks(text)
  } catch {
    return undefined
  }
}
