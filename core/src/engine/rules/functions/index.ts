import { DATE_FUNCTIONS } from './dates.ts'
import type { RuleFunction } from './define.ts'
import { DIGEST_FUNCTIONS, ENCODING_FUNCTIONS } from './encodings.ts'
import { LIST_FUNCTIONS } from './lists.ts'
import { NUMBER_FUNCTIONS } from './numbers.ts'
import { TEXT_FUNCTIONS } from './text.ts'

/**
 * Every function of `compute`: the one table that the engine, the decoder, the JSON Schema and
 * docs/rules-functions.md read. No function loops, branches, uses randomness or has side effects.
 */
export const FUNCTION_GROUPS = {
  Text: TEXT_FUNCTIONS,
  Numbers: NUMBER_FUNCTIONS,
  'Lists and objects': LIST_FUNCTIONS,
  Encodings: ENCODING_FUNCTIONS,
  'Digests and signatures': DIGEST_FUNCTIONS,
  'Dates and identity': DATE_FUNCTIONS,
} as const

const FUNCTIONS: ReadonlyMap<string, RuleFunction> = new Map(
  Object.values(FUNCTION_GROUPS).flatMap((group) => Object.entries<RuleFunction>(group)),
)

/** Names in the order of the table. */
export const FUNCTION_NAMES: readonly string[] = [...FUNCTIONS.keys()]

/** The function of this name, case-sensitive; undefined when there is none. */
export function functionNamed(name: string): RuleFunction | undefined {
  return FUNCTIONS.get(name)
}

export { arityOf, type CallFacts, parameterAt, type RuleFunction } from './define.ts'
export { decodeBase64 } from './encodings.ts'
