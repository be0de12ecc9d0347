import { z } from 'zod'

/**
 * The grammar of conditions, for the API's description: it has a name in the rule language, whose conditions are the same.
 */
export const CONDITION_GRAMMAR = {
  anyOf: [{ type: 'object', maxProperties: 0 }, { $ref: '#/$defs/InnerCondition' }],
}

/** A condition on its way in or out: `parseCondition` evaluates it, naming every wrong part. */
export const ConditionDocument = z.unknown().meta(CONDITION_GRAMMAR)
