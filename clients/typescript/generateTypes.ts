import openapiTypescript, { astToString } from 'openapi-typescript'

/** The types of a description, as the text of `src/schema.ts` below its first line. */
export async function typesOf(description: string): Promise<string> {
  return astToString(await openapiTypescript(description))
}
