import type { z } from 'zod'
import EXAMPLES from './examples.json' with { type: 'json' }

/** Gives a schema of answers its name in the API's description, and the example of `examples.json`, which a test checks by the schema. */
export function withExample<Schema extends z.ZodType>(id: keyof typeof EXAMPLES, schema: Schema): Schema {
  return schema.meta({ id, examples: [EXAMPLES[id]] })
}

/** Ids for examples in the description: an object has the same id in every example. */
export const EXAMPLE_IDS = {
  endpoint: '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33',
  rule: '5b1c2f6e-0d6b-4d0c-8a53-0b5a2f6f2f10',
  action: '5b1c2f6e-0d6b-4d0c-8a53-0b5a2f6f2f10',
  channel: '7a0f8f0e-3d1e-4a43-9a57-0a7b3f2f9d11',
} as const
