import {
  type Condition,
  type Path,
  pathsOf,
  unmatchedPaths,
  unmatchedPathsInSteps,
  unmatchedWords,
} from '../../conditions/index.ts'
import type { Call, CompiledStep } from '../language/rule.ts'
import type { StoreTarget } from '../language/targets.ts'
import type { Draft } from './draft.ts'
import type { Meter } from './meter.ts'
import { placesOf } from './nodes.ts'

/**
 * A preview's note on a step whose paths find nothing in the request as it is now. A misspelt path looks like a rule
 * that works. Null when every path that the step changes or reads found something; a path that it creates need not
 * exist.
 */
export function unmatchedNote(step: CompiledStep, draft: Draft, meter: Meter): string | null {
  const read = pathsRead(step)
  if (read.length > 0) return unmatchedWords(unmatchedPaths(read, draft))
  const targets = targetsOf(step)
  const missing = targets.filter((target) => !isThere(target, draft, meter))
  if (missing.length === 0) return null
  if (missing.length === targets.length) return 'matched nothing'
  return unmatchedWords(missing)
}

/** {@link unmatchedNote} for a rule's condition, in pieces. */
export function* unmatchedWhen(when: Condition, draft: Draft): Generator<void, string | null> {
  return unmatchedWords(yield* unmatchedPathsInSteps(pathsOf(when, { absent: false }), draft))
}

function pathsRead(step: CompiledStep): readonly Path[] {
  if (step.op === 'template') return step.template.filter((part) => typeof part !== 'string')
  return step.op === 'compute' ? argumentPaths(step.call) : []
}

function argumentPaths({ args }: Call): readonly Path[] {
  return args.flatMap((argument) => {
    if (argument.kind === 'call') return argumentPaths(argument)
    return argument.kind === 'path' ? [argument.path] : []
  })
}

function targetsOf(step: CompiledStep): readonly StoreTarget[] {
  if ('targets' in step) return step.targets
  return step.op === 'rename' ? [step.from] : []
}

function isThere(target: StoreTarget, draft: Draft, meter: Meter): boolean {
  if (target.root === 'query') return draft.queryValues(target.name).length > 0
  if (target.root === 'part') return draft.hasPart(target.part)
  if (target.root === 'headers') return draft.headerValues(target.name).length > 0
  return draft.isStructured && placesOf(draft.root(), target.segments, meter).length > 0
}
