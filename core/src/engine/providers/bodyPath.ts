import { EVERY, parsePath, type Segment, segmentIn } from '../conditions/index.ts'
import { memberOf, type Node } from '../json/index.ts'

const parsed = new Map<string, readonly Segment[]>()

function segmentsOf(path: string): readonly Segment[] {
  const known = parsed.get(path)
  if (known !== undefined) return known
  const text = path.startsWith('[') ? `body${path}` : `body.${path}`
  const result = parsePath(text, { every: true, deliveryFacts: false })
  if ('problem' in result || result.path.root !== 'body') throw new Error(`Bad path in the catalog: ${path}`)
  parsed.set(path, result.path.segments)
  return result.path.segments
}

/**
 * The values at a path of the catalog (`events[0].type`) in a document: one value, or with `[*]` one for each element.
 * A missing value is undefined.
 *
 * @throws Error for text that is not a path; the catalog's test tries every path of every row
 */
export function nodesAt(document: Node, path: string): readonly Node[] {
  let reached: Node[] = [document]
  for (const written of segmentsOf(path)) {
    reached = reached.flatMap((node) => {
      const segment = segmentIn(written, Array.isArray(node))
      if (segment === EVERY) return Array.isArray(node) ? node : []
      if (typeof segment === 'string') return [memberOf(node, segment)]
      return [Array.isArray(node) ? node.at(segment) : undefined]
    })
  }
  return reached
}

/** The one value of a path without `[*]`; undefined when it is missing. */
export function nodeAt(document: Node, path: string): Node {
  return nodesAt(document, path)[0]
}
