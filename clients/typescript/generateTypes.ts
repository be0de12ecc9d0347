import openapiTypescript, { astToString } from 'openapi-typescript'

/** The types of a description, as the text of `src/schema.ts`. */
export async function typesOf(description: string): Promise<string> {
  return `// Made from the API's description by \`bun run openapi:snapshot\`: do not edit.\n${astToString(await openapiTypescript(description))}`
}
