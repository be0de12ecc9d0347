import type { Condition, Leaf, Test } from './condition.ts'

/** In place of a next step: the condition holds. */
export const HOLDS = -1
/** In place of a next step: the condition does not hold. */
const FAILS = -2

/** One comparison, and where evaluation goes on after it: the index of a step, {@link HOLDS}, or another negative number. */
export interface Step {
  readonly leaf: Leaf
  readonly whenTrue: number
  readonly whenFalse: number
}

/** A condition as a list of comparisons, so that evaluation can stop after any of them and go on later. */
export interface Program {
  readonly steps: readonly Step[]
  /** What evaluation begins with; as {@link Step.whenTrue}. */
  readonly start: number
}

/** Conditions are kept, and captures are many. */
const programs = new WeakMap<Condition, Program>()

/** The program of a condition, made once. Comparisons run in the order of the text, and only as far as they matter. */
export function programOf(condition: Condition): Program {
  const known = programs.get(condition)
  if (known !== undefined) return known
  const steps: Step[] = []
  const program = { steps, start: compile(condition.test, { steps, whenTrue: HOLDS, whenFalse: FAILS }) }
  programs.set(condition, program)
  return program
}

/** Appends a test's steps, from its end to its beginning. @returns where the test begins */
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
