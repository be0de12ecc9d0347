import { bodyPathPattern, HEADER_PATH_PATTERN, type Path, parsePath } from '../../conditions/index.ts'
import type { ItemCode } from '../../issues.ts'
import { CONNECTION_FIELDS } from '../../words/index.ts'

/** Path that a step may write: a part of the body, or a header. */
export type Target =
  | Extract<Path, { root: 'body' }>
  | (Extract<Path, { name: string }> & { readonly root: 'headers' })

/** The kinds of target that are allowed where one is parsed. */
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

/** Reads the path of a target. */
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
