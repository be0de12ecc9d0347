import { bodyPathPattern, HEADER_PATH_PATTERN, type Path, parsePath } from '../../conditions/index.ts'
import type { ItemCode } from '../../issues.ts'
import { ByHeaderName } from '../../message/index.ts'
import { CONNECTION_FIELDS } from '../../words/index.ts'

/** Path that a step may write: a part of the body, or a header. */
export type Target =
  | Extract<Path, { root: 'body' }>
  | (Extract<Path, { name: string }> & { readonly root: 'headers' })

/** Parts of a request that a rule for storing can take out as a whole. */
export type WholePart = 'body' | 'path' | 'ip'

/** Path that a step of a rule for storing may take out: a {@link Target}, a query parameter, or a whole part. */
export type StoreTarget =
  | Target
  | (Extract<Path, { name: string }> & { readonly root: 'query' })
  | { readonly root: 'part'; readonly part: WholePart; readonly text: string }

/** Targets of a step, by the part of a request that they change. */
export interface SortedTargets {
  readonly body: readonly Extract<Target, { root: 'body' }>[]
  /** Texts of targets. */
  readonly headers: ByHeaderName<string>
  readonly query: ReadonlyMap<string, string>
  readonly parts: readonly WholePart[]
}

/** Sorted once a rule: rules are kept, and run for many requests. */
export function sortedTargets(targets: readonly StoreTarget[]): SortedTargets {
  return {
    body: targets.filter((target) => target.root === 'body'),
    headers: new ByHeaderName(
      targets.flatMap((target) => (target.root === 'headers' ? [[target.name, target.text]] : [])),
    ),
    query: new Map(
      targets.flatMap((target) => (target.root === 'query' ? [[target.name, target.text]] : [])),
    ),
    parts: targets.flatMap((target) => (target.root === 'part' ? [target.part] : [])),
  }
}

export interface TargetOptions {
  /** Whether `[*]` is allowed. It is in keep, remove and redact. */
  readonly every: boolean
  /** Whether headers of the connection and our own are allowed. Only in keep, which does not remove them. */
  readonly protectedHeaders: boolean
}

/**
 * Whether steps may read a header but not write it: it belongs to the connection or is ours. Names compare without
 * case.
 */
export function isProtectedHeader(name: string): boolean {
  const lower = name.toLowerCase()
  return CONNECTION_FIELDS.has(lower) || lower.startsWith('creel-') || lower.startsWith('proxy-')
}

/** The grammar of targets as an anchored regular expression, for JSON Schema. It also takes protected headers. */
export function targetPattern({ every }: Pick<TargetOptions, 'every'>): string {
  return `^(?:${bodyPathPattern({ every, least: 1 })}|${HEADER_PATH_PATTERN})$`
}

/** Grammar of {@link parseStoreTarget} as an anchored regular expression, for JSON Schema. */
export const STORE_TARGET_PATTERN = `^(?:${bodyPathPattern({ every: true, least: 0 })}|${HEADER_PATH_PATTERN}|query\\.[\\s\\S]+|path|ip)$`

/** Reads the path of a target of a rule for storing. Only headers of our own are refused: they prevent loops. */
export function parseStoreTarget(
  text: string,
): { target: StoreTarget } | { problem: { code: ItemCode; reason: string } } {
  if (text === 'body' || text === 'path' || text === 'ip')
    return { target: { root: 'part', part: text, text } }
  const parsed = parsePath(text, { every: true, deliveryFacts: false })
  if ('problem' in parsed) return parsed
  const { path } = parsed
  if (path.root === 'query') return { target: { root: 'query', name: path.name, text } }
  if (path.root === 'headers' && path.name.toLowerCase().startsWith('creel-')) {
    const reason = `${JSON.stringify(path.name)} is a header of the service: no step may change it.`
    return { problem: { code: 'not_allowed', reason } }
  }
  if (path.root !== 'fact') return parseTarget(text, { every: true, protectedHeaders: true })
  const reason = `${JSON.stringify(text)} cannot be taken out: name body, body.<path>, headers.<name>, query.<name>, path or ip.`
  return { problem: { code: 'bad_path', reason } }
}

export function parseTarget(
  text: string,
  options: TargetOptions,
): { target: Target } | { problem: { code: ItemCode; reason: string } } {
  const parsed = parsePath(text, { every: options.every, deliveryFacts: true })
  if ('problem' in parsed) return parsed
  const { path } = parsed
  if (path.root === 'body') {
    if (path.segments.length > 0) return { target: path }
    return {
      problem: {
        code: 'bad_path',
        reason: '"body" alone cannot be changed: name a part of it, like body.id.',
      },
    }
  }
  if (path.root !== 'headers') {
    const reason = `${JSON.stringify(text)} can be read only: steps change body.<path> and headers.<name>.`
    return { problem: { code: 'bad_path', reason } }
  }
  if (!options.protectedHeaders && isProtectedHeader(path.name)) {
    const reason = `${JSON.stringify(path.name)} belongs to the connection or to the service: no step may change it.`
    return { problem: { code: 'not_allowed', reason } }
  }
  return { target: { root: 'headers', name: path.name, text: path.text } }
}
