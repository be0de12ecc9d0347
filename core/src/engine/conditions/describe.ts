import { writeJson } from '../json/index.ts'
import type { Condition, ConditionOp, Leaf, Test } from './condition.ts'

const MAX_DESCRIPTION = 300

/** How each operator reads in a sentence. */
const WORDS: Readonly<Record<Exclude<ConditionOp, 'exists'>, string>> = {
  eq: 'is',
  neq: 'is not',
  in: 'is one of',
  nin: 'is none of',
  gt: 'is greater than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  startsWith: 'starts with',
  endsWith: 'ends with',
  contains: 'contains',
  like: 'is like',
}

const CASELESS: ReadonlySet<ConditionOp> = new Set(['gt', 'gte', 'lt', 'lte'])

/**
 * A condition in words: `body.type starts with "invoice." and not (headers.X-Env is "test")`; "Always" for `{}`. At
 * most 300 characters, cut between two characters.
 */
export function describeCondition(condition: Condition): string {
  const words = wordsOf(condition.test)
  if (words.length <= MAX_DESCRIPTION) return words
  const characters = [...words]
  return characters.length <= MAX_DESCRIPTION
    ? words
    : `${characters.slice(0, MAX_DESCRIPTION - 1).join('')}…`
}

function wordsOf(test: Test): string {
  switch (test.kind) {
    case 'always':
      return 'Always'
    case 'all':
      return test.tests.map(wordsOf).join(' and ')
    case 'any':
      return test.tests.length === 1 ? test.tests.map(wordsOf).join('') : `(${alternatives(test.tests)})`
    case 'not':
      return `not (${test.test.kind === 'any' ? alternatives(test.test.tests) : wordsOf(test.test)})`
    case 'leaf':
      return wordsOfLeaf(test)
  }
}

function alternatives(tests: readonly Test[]): string {
  return tests.map(wordsOf).join(' or ')
}

function wordsOfLeaf({ path, op, value, ignoreCase }: Leaf): string {
  if (op === 'exists') return `${path.text} ${value === false ? 'does not exist' : 'exists'}`
  const anyCase = ignoreCase && !CASELESS.has(op) ? ' (any case)' : ''
  return `${path.text} ${WORDS[op]} ${writeJson(value)}${anyCase}`
}
