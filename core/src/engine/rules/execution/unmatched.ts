import type { CompiledStep } from '../language/rule.ts'
import type { Target } from '../language/targets.ts'
import type { Draft } from './draft.ts'
import type { Meter } from './meter.ts'
import { placesOf } from './nodes.ts'

/**
 * What a preview says of a step whose paths lead nowhere in the request as it is now: a misspelt path looks like a rule
 * that works. Null when every path of the step found something, and for steps that make what they name.
 */
export function unmatchedNote(step: CompiledStep, draft: Draft, meter: Meter): string | null {
  const targets = targetsOf(step)
  const missing = targets.filter((target) => !isThere(target, draft, meter))
  if (missing.length === 0) return null
  if (missing.length === targets.length) return 'matched nothing'
  return `matched nothing: ${missing.map(({ text }) => text).join(', ')}`.slice(0, NOTE_MAX)
}

const NOTE_MAX = 300

function targetsOf(step: CompiledStep): readonly Target[] {
  if (step.op === 'keep' || step.op === 'remove' || step.op === 'redact') return step.targets
  return step.op === 'rename' ? [step.from] : []
}

function isThere(target: Target, draft: Draft, meter: Meter): boolean {
  if (target.root === 'headers') return draft.headerValues(target.name).length > 0
  return draft.isStructured && placesOf(draft.root(), target.segments, meter).length > 0
}
