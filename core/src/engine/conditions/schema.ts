import { z } from 'zod'

/**
 * The grammar of conditions, for the API's description. It refers to the rule language, whose conditions are the same.
 */
export const CONDITION_GRAMMAR = {
  anyOf: [{ type: 'object', maxProperties: 0 }, { $ref: '#/$defs/InnerCondition' }],
}

/** A condition in input or output. `parseCondition` checks it and names every wrong part. */
export const ConditionDocument = z.unknown().meta(CONDITION_GRAMMAR)
