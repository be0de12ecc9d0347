import type { Condition, Leaf, Test } from './condition.ts'

/** Instead of the index of a next step: the condition holds. */
export const HOLDS = -1
/** Instead of the index of a next step: the condition does not hold. */
const FAILS = -2

/** One comparison, and the next step for either outcome: its index, {@link HOLDS}, or another negative number. */
export interface Step {
  readonly leaf: Leaf
  readonly whenTrue: number
  readonly whenFalse: number
}

/** A condition as a list of comparisons, so that evaluation can pause after any of them and resume later. */
export interface Program {
  readonly steps: readonly Step[]
  /** The first step; as {@link Step.whenTrue}. */
  readonly start: number
}

/** Programs made so far: conditions are kept, and evaluated for many captures. */
const programs = new WeakMap<Condition, Program>()

/**
 * The program of a condition, made once. Comparisons run in the order of the text and stop when the outcome is known.
 */
export function programOf(condition: Condition): Program {
  const known = programs.get(condition)
  if (known !== undefined) return known
  const steps: Step[] = []
  const program = { steps, start: compile(condition.test, { steps, whenTrue: HOLDS, whenFalse: FAILS }) }
  programs.set(condition, program)
  return program
}

/** Appends a test's steps, last step first. @returns the index of the test's first step */
function compile(
  test: Test,
  target: { readonly steps: Step[]; readonly whenTrue: number; readonly whenFalse: number },
): number {
  const { steps, whenTrue, whenFalse } = target
  switch (test.kind) {
    case 'always':
      return whenTrue
    case 'all':
      return test.tests.reduceRight(
        (next, inner) => compile(inner, { steps, whenTrue: next, whenFalse }),
        whenTrue,
      )
    case 'any':
      return test.tests.reduceRight(
        (next, inner) => compile(inner, { steps, whenTrue, whenFalse: next }),
        whenFalse,
      )
    case 'not':
      return compile(test.test, { steps, whenTrue: whenFalse, whenFalse: whenTrue })
    case 'leaf':
      return steps.push({ leaf: test, whenTrue, whenFalse }) - 1
  }
}
