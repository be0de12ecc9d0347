import type { Accepted } from '../api/checks.ts'
import {
  type Condition,
  type Path,
  type PathProblem,
  parseCondition,
  parsePath,
} from '../engine/conditions/index.ts'
import type { InputIssue } from '../engine/issues.ts'
import type { EventArguments } from './schema.ts'

/** Arguments of an event type, ready to be evaluated. */
export interface EventFilter {
  /** Labels of which a request has one; null: any. */
  readonly labels: readonly string[] | null
  readonly verification: EventArguments['verification']
  readonly condition: Condition
  /** Paths to show; null: those of the endpoint. */
  readonly fields: readonly FieldPath[] | null
}

/** A path whose value an event shows. */
export interface FieldPath {
  readonly text: string
  readonly path: Path
}

/**
 * Compiles arguments.
 *
 * @returns the filter, or every wrong part; paths of issues start at `arguments`
 */
export function readArguments(
  given: Accepted<EventArguments> | null | undefined,
): { filter: EventFilter } | { issues: InputIssue[] } {
  const { labels, verification, where = [], fields } = given ?? {}
  const issues: InputIssue[] = []
  // The list has a hole where its schema has refused an item.
  const places = Object.keys(where).map(Number)
  const parsed = parseCondition(places.length === 0 ? {} : { all: places.map((at) => where[at]) })
  if ('issues' in parsed) {
    for (const { path, ...issue } of parsed.issues) {
      const [, at, ...within] = path
      const place = typeof at === 'number' ? [places[at] ?? at] : []
      issues.push({ ...issue, path: ['arguments', 'where', ...place, ...within] })
    }
  }
  const paths = (fields ?? []).flatMap((text, at) => {
    const read = fieldPath(text)
    if ('path' in read) return [read]
    issues.push({ path: ['arguments', 'fields', at], code: read.problem.code, detail: read.problem.reason })
    return []
  })
  if (!('condition' in parsed) || issues.length > 0) return { issues }
  return {
    filter: {
      labels: labels ?? null,
      verification,
      condition: parsed.condition,
      fields: fields === undefined ? null : paths,
    },
  }
}

/** A path that addresses one value; the reason if it cannot. The whole body is no value: it could not be masked. */
export function fieldPath(text: string): FieldPath | { readonly problem: PathProblem } {
  const parsed = parsePath(text, { every: false, deliveryFacts: false })
  if (!('path' in parsed)) return parsed
  if (parsed.path.root === 'body' && parsed.path.segments.length === 0) {
    return { problem: { code: 'bad_path', reason: 'A field is a member of the body, like body.id.' } }
  }
  return { text, path: parsed.path }
}
