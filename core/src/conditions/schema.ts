import { z } from 'zod'

/**
 * A condition on its way in or out: `parseCondition` judges it, naming every wrong part. The API's description refers
 * to the grammar by the name that it has in the rule language, whose conditions are the same.
 */
export const ConditionDocument = z.unknown().meta({
  anyOf: [{ type: 'object', maxProperties: 0 }, { $ref: '#/$defs/InnerCondition' }],
})
