import { memberOf, type Node } from '../json/index.ts'
import type { Condition, Test } from './condition.ts'
import { EVERY, type Path, type Segment, segmentIn } from './paths.ts'
import type { ReadRoot } from './readRoot.ts'

/** Facts whose values are text even when they look like a number. */
const TEXT_FACTS: ReadonlySet<string> = new Set(['method', 'path', 'ip'])

/**
 * Whether at least one value at the path passes. A missing path has no values.
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

interface Values {
  readonly values: readonly Node[]
  /** As the second argument of `passes` of {@link someValue}. */
  readonly isText: boolean
}

/** The values that {@link someValue} examines, in its order, list by list, for a caller that pauses in between. */
export function* valueLists(root: ReadRoot, path: Path): Generator<Values> {
  switch (path.root) {
    case 'headers':
      return yield { values: root.headerValues(path.name), isText: true }
    case 'query':
      return yield { values: root.queryValues(path.name), isText: true }
    case 'fact': {
      const value = root.fact(path.fact)
      if (value !== undefined) yield { values: [value], isText: TEXT_FACTS.has(path.fact) }
      return
    }
    case 'body': {
      if (path.segments.length === 0) {
        const text = root.bodyText()
        if (text !== undefined) yield { values: [text], isText: false }
        return
      }
      const body = root.bodyDocument()
      if (body === undefined) return
      for (const values of nodeLists(body.value, path.segments)) yield { values, isText: body.isForm }
    }
  }
}

const NOTHING: readonly Node[] = []
/** Elements of a list that are read together. */
const ELEMENTS_OF_LIST = 64

/**
 * The values at a path, list by list. The list of the last `[*]` is not copied. If a path ends early, an empty list
 * is yielded, since searching takes time, too.
 */
function* nodeLists(node: Node, segments: readonly Segment[]): Generator<readonly Node[]> {
  const every = segments.findIndex(mayBeEvery)
  if (every < 0) return yield [descend(node, segments)].filter(isThere)
  const list = descend(node, segments.slice(0, every))
  const segment = segments[every]
  const rest = segments.slice(every + 1)
  if (!Array.isArray(list)) {
    // In an object the segment is a name.
    const child = segment === undefined || list === undefined ? undefined : descend(list, [segment])
    if (child === undefined) yield NOTHING
    else yield* nodeLists(child, rest)
  } else if (rest.length === 0) yield list
  else if (rest.some(mayBeEvery)) for (const item of list) yield* nodeLists(item, rest)
  else {
    for (let from = 0; from < list.length; from += ELEMENTS_OF_LIST) {
      const items = list.slice(from, from + ELEMENTS_OF_LIST)
      yield items.map((item) => descend(item, rest)).filter(isThere)
    }
  }
}

/** Whether a segment means every element of a list. */
export function mayBeEvery(segment: Segment): boolean {
  return segment === EVERY || (typeof segment === 'object' && segment.element === EVERY)
}

const isThere = (node: Node) => node !== undefined

/** The node at the end of segments; undefined when it is missing, or where a segment means `[*]`. */
function descend(node: Node, segments: readonly Segment[]): Node {
  let reached = node
  for (const written of segments) {
    const segment = segmentIn(written, Array.isArray(reached))
    reached = segment === EVERY ? undefined : childOf(reached, segment)
    if (reached === undefined) return undefined
  }
  return reached
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

const NOTE_MAX = 300

/**
 * The paths that a condition reads, each once, in its order.
 *
 * @param absent whether those count that are only tested for absence
 */
export function pathsOf(
  { test: whole }: Condition,
  { absent }: { readonly absent: boolean },
): readonly Path[] {
  const paths = new Map<string, Path>()
  const visit = (test: Test): void => {
    if (test.kind === 'all' || test.kind === 'any') test.tests.forEach(visit)
    if (test.kind === 'not') visit(test.test)
    if (test.kind !== 'leaf' || (!absent && test.op === 'exists' && test.value === false)) return
    if (!paths.has(test.path.text)) paths.set(test.path.text, test.path)
  }
  visit(whole)
  return [...paths.values()]
}

/** Filters paths to those that find nothing. A misspelt path looks like one that works. */
export function unmatchedPaths(paths: readonly Path[], root: ReadRoot): readonly Path[] {
  return paths.filter((path) => !someValue(root, path, () => true))
}

/** {@link unmatchedPaths} in pieces: the generator yields after each path, and each thousand lists of values. */
export function* unmatchedPathsInSteps(
  paths: readonly Path[],
  root: ReadRoot,
): Generator<void, readonly Path[]> {
  const unmatched: Path[] = []
  for (const path of paths) {
    if (!(yield* hasValueInSteps(path, root))) unmatched.push(path)
    yield
  }
  return unmatched
}

const LISTS_OF_PIECE = 1000

function* hasValueInSteps(path: Path, root: ReadRoot): Generator<void, boolean> {
  let lists = 0
  for (const { values } of valueLists(root, path)) {
    if (values.length > 0) return true
    lists += 1
    if (lists % LISTS_OF_PIECE === 0) yield
  }
  return false
}

/** `matched nothing: body.tpye, headers.X`; null when there is no such path. At most 300 characters. */
export function unmatchedWords(paths: readonly Pick<Path, 'text'>[]): string | null {
  if (paths.length === 0) return null
  return `matched nothing: ${paths.map(({ text }) => text).join(', ')}`.slice(0, NOTE_MAX)
}
