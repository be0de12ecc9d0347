import { Problem, ROUTES, STREAMS } from '@creel/core'
import type { JsonObject } from './json.ts'
import { NOUNS } from './nouns.ts'
import { operation, streamOperation, tagOf } from './operation.ts'
import { problemExamples } from './problems.ts'
import { createSchemas } from './schemas.ts'

const ABOUT = `Capture URLs store the requests that senders post to them. This API lists, searches, awaits, replays and forwards these requests.

- **Keys** belong to one workspace. An id of another workspace is answered like an absent one.
- **Errors** are \`application/problem+json\`: branch on \`code\`, quote \`traceId\` when you report one.
- **Lists** are newest first, in pages of at most 100.
- **Writes**: an omitted member and \`null\` mean "unchanged" (on create: the default); an empty value clears.
- **v1 is append-only**: members may be added, existing ones never change meaning. Ignore members that you do not know.`

/**
 * The OpenAPI 3.1 description. It is made from the declarations that are served, so it cannot differ from what is
 * decoded.
 *
 * @param baseUrl {base_url}, for `servers`
 */
export function openApi(baseUrl: string, version: string): JsonObject {
  const schemas = createSchemas()
  const paths: Record<string, JsonObject> = {}
  for (const route of ROUTES) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route, schemas) }
  }
  for (const stream of STREAMS) {
    paths[stream.path] = {
      ...paths[stream.path],
      [stream.method.toLowerCase()]: streamOperation(stream, schemas),
    }
  }
  schemas.of(Problem, 'output')
  const tags = new Set([...ROUTES, ...STREAMS].map(tagOf))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Creel',
      version,
      summary: 'Capture, inspect, transform, forward and replay webhooks.',
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: NOUNS.filter(([name]) => tags.has(name)).map(([name, title, description]) => ({
      name,
      'x-displayName': title,
      description,
    })),
    paths,
    components: {
      schemas: schemas.components,
      examples: problemExamples([...ROUTES, ...STREAMS]),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, as `Authorization: Bearer creel_live_…`',
        },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Api-Key',
          description: 'The same key, for clients that cannot set Authorization',
        },
      },
    },
  }
}
