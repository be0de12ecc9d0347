import type { z } from 'zod'

/**
 * Gives a schema of answers its name and an example in the API's description.
 *
 * @param example an answer as clients get it; one of another type does not compile
 */
export function withExample<Schema extends z.ZodType>(
  id: string,
  schema: Schema,
  example: NoInfer<z.output<Schema>>,
): Schema {
  return schema.meta({ id, examples: [example] })
}

/** Ids for examples in the description: an object has the same id in every example. */
export const EXAMPLE_IDS = {
  endpoint: '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33',
  rule: '5b1c2f6e-0d6b-4d0c-8a53-0b5a2f6f2f10',
  action: '5b1c2f6e-0d6b-4d0c-8a53-0b5a2f6f2f10',
  channel: '7a0f8f0e-3d1e-4a43-9a57-0a7b3f2f9d11',
} as const
