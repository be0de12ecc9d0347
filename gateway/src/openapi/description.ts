import { Problem, ROUTES, STREAMS } from '@creel/core'
import { operation, streamOperation, tagOf } from './operation.ts'
import { problemExamples } from './problems.ts'
import { createSchemas, type JsonObject } from './schemas.ts'

const ABOUT = `Capture URLs store the requests that senders post to them. This API lists, searches, awaits, replays and forwards these requests.

- **Keys** belong to one workspace. An id of another workspace is answered like an absent one.
- **Errors** are \`application/problem+json\`: branch on \`code\`, quote \`traceId\` when you report one.
- **Lists** are newest first, in pages of at most 100.
- **Writes**: an omitted member and \`null\` mean "unchanged" (on create: the default); an empty value clears. Members without an empty value are cleared by \`null\`; their descriptions say so.
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

/** The tags of the description, in reading order: one for each folder of core, with its topic. */
const NOUNS: readonly (readonly [name: string, title: string, description: string])[] = [
  ['me', 'Me', 'The API key, its workspace and the limits of the plan.'],
  ['endpoints', 'Endpoints', 'Capture URLs, and the answers that senders get.'],
  ['requests', 'Captured requests', 'Captured requests: list, search, read, await, replay and delete.'],
  ['actions', 'Actions', 'Steps for each captured request: forward it to a URL, or notify an alert channel.'],
  [
    'transformations',
    'Transformation rules',
    'JSON rules that change the requests that a forward destination receives.',
  ],
  ['deliveries', 'Deliveries', 'Every delivery attempt, with its exact request and response.'],
  ['shareLinks', 'Share links', 'Links that show one captured request to readers without a key.'],
  ['recycleBin', 'Recycle bin', 'Deleted requests, which can be restored until they are purged.'],
  ['erasures', 'Erasures', 'Find and delete everything that holds a value, like the address of a person.'],
  ['alertChannels', 'Alert channels', 'Destinations of alerts, and the record of sent alerts.'],
  ['watchdogs', 'Watchdogs', "Dead man's switches: they alarm when an expected capture does not arrive."],
  ['providers', 'Provider catalog', 'Senders with known signatures, event types and handshakes.'],
  ['events', 'Events', 'Webhooks as events for agents, as the Model Context Protocol has them.'],
  ['subscriptions', 'Event subscriptions', 'Callbacks of agents that are sent events.'],
  [
    'reconcile',
    'Reconciliation',
    "Comparison of a sender's event list with the captures. Missing events are fetched.",
  ],
  ['replays', 'Replays', 'Replays of many captured requests, with faults, and comparison of the answers.'],
  ['samples', 'Samples', 'Signed sample events of well-known providers, to test an endpoint.'],
  ['sessions', 'Console', 'Sign-in links for browsers.'],
  ['audit', 'Audit log', 'Record of changes, with actor, time and address.'],
  ['keys', 'API keys', 'Keys of the workspace: create, list, rotate and revoke.'],
  ['incidents', 'Incidents', 'Open and closed problems, one per outage of a subject.'],
  ['workspace', 'Workspace', 'Usage of the workspace, with the limits of its plan.'],
  ['conditions', 'Conditions', 'Conditions of actions, rules and watchdogs, tested on captured requests.'],
  ['verification', 'Verification', 'Signature checks, tested on captured requests.'],
]
