import { memberOf, type Node } from '../json/index.ts'
import { EVERY, type Path, type Segment, segmentIn } from './paths.ts'
import type { ReadRoot } from './readRoot.ts'

/** Facts whose values are text although they may spell a number. */
const TEXT_FACTS: ReadonlySet<string> = new Set(['method', 'path', 'ip'])

/**
 * Whether some value that the path addresses passes. A missing path addresses none.
 *
 * @param passes `isText` marks text sources: headers, query, form values, method, path, ip
 */
export function someValue(
  root: ReadRoot,
  path: Path,
  passes: (value: Node, isText: boolean) => boolean,
): boolean {
  switch (path.root) {
    case 'headers':
      return root.headerValues(path.name).some((value) => passes(value, true))
    case 'query':
      return root.queryValues(path.name).some((value) => passes(value, true))
    case 'fact': {
      const value = root.fact(path.fact)
      return value !== undefined && passes(value, TEXT_FACTS.has(path.fact))
    }
    case 'body': {
      if (path.segments.length === 0) {
        const text = root.bodyText()
        return text !== undefined && passes(text, false)
      }
      const body = root.bodyDocument()
      if (body === undefined) return false
      return someNode(body.value, path.segments, 0, (node) => passes(node, body.isForm))
    }
  }
}

/**
 * The one value that a path without `[*]` addresses: repeated headers joined with ", ", the first of a repeated query
 * name.
 *
 * @returns undefined when the path is missing; a JSON null is null
 */
export function readValue(root: ReadRoot, path: Path): Node {
  if (path.root === 'headers') {
    const values = root.headerValues(path.name)
    return values.length === 0 ? undefined : values.join(', ')
  }
  let read: Node
  someValue(root, path, (value) => {
    read = value
    return true
  })
  return read
}

function someNode(
  node: Node,
  segments: readonly Segment[],
  at: number,
  passes: (node: Node) => boolean,
): boolean {
  let reached = node
  for (let index = at; index < segments.length; index += 1) {
    const written = segments[index]
    const segment = written === undefined ? undefined : segmentIn(written, Array.isArray(reached))
    if (segment === EVERY) {
      return Array.isArray(reached) && reached.some((item) => someNode(item, segments, index + 1, passes))
    }
    reached = segment === undefined ? undefined : childOf(reached, segment)
    if (reached === undefined) return false
  }
  return passes(reached)
}

/** A member by name or an element by index; `["0"]` is a name, and lists have no names. */
function childOf(node: Node, segment: string | number): Node {
  if (typeof segment === 'string') return memberOf(node, segment)
  return Array.isArray(node) ? node.at(segment) : undefined
}
