import { MAX_JSON_DEPTH, type Node, nestsDeeper, parseForLooks } from '../../engine/json/index.ts'

/** Reads a page of which single values are looked up and nothing is stored. Undefined for what is not JSON or nests too deep. */
export function looksOf(text: string): Node {
  if (nestsDeeper(text, MAX_JSON_DEPTH)) return undefined
  try {
    return parseForLooks(text)
  } catch {
    return undefined
  }
}
