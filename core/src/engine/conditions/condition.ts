import type { JsonValue } from '../json/index.ts'
import type { Path } from './paths.ts'

/** Every comparison a leaf may make, in the order that messages list them. */
export const CONDITION_OPS = [
  'eq',
  'neq',
  'in',
  'nin',
  'gt',
  'gte',
  'lt',
  'lte',
  'startsWith',
  'endsWith',
  'contains',
  'like',
  'exists',
] as const

export type ConditionOp = (typeof CONDITION_OPS)[number]

/** The bounds of a condition. A leaf has depth 0. */
export const CONDITION_BOUNDS = {
  depth: 4,
  leaves: 50,
  bytes: 16 * 1024,
  groupItems: 20,
  listItems: 100,
  textLength: 1000,
  likeLength: 200,
  likeStars: 8,
} as const

/** One comparison: the values at a path against a fixed value. */
export interface Leaf {
  readonly kind: 'leaf'
  readonly path: Path
  readonly op: ConditionOp
  /** As written; `true` for an `exists` without one. */
  readonly value: JsonValue
  readonly ignoreCase: boolean
}

export type Test =
  | { readonly kind: 'always' }
  | { readonly kind: 'all' | 'any'; readonly tests: readonly Test[] }
  | { readonly kind: 'not'; readonly test: Test }
  | Leaf

/** A condition that was found valid. Immutable, so that one parse serves every capture. */
export interface Condition {
  readonly test: Test
  /**
   * JSON text with the client's key order and number spelling. This text is stored, and shown through `shownJson`.
   */
  readonly text: string
}
