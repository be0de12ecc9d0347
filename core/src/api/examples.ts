import type { z } from 'zod'

/**
 * Gives a schema of answers its name in the description of the API, and an example of it there.
 *
 * @param example an answer as clients get it: a wrong one does not compile
 */
export function withExample<Schema extends z.ZodType>(
  id: string,
  schema: Schema,
  example: NoInfer<z.output<Schema>>,
): Schema {
  return schema.meta({ id, examples: [example] })
}

/** Ids in examples of the description: a thing has the same id wherever it is named. */
export const EXAMPLE_IDS = {
  endpoint: '0f4a6f1e-52f0-4a52-9f0a-6c0f6a1d2b33',
  rule: '5b1c2f6e-0d6b-4d0c-8a53-0b5a2f6f2f10',
  action: '5b1c2f6e-0d6b-4d0c-8a53-0b5a2f6f2f10',
  channel: '7a0f8f0e-3d1e-4a43-9a57-0a7b3f2f9d11',
} as const
