import openapiTypescript, { astToString } from 'openapi-typescript'

const MADE = "// Made from the API's description by `bun run openapi:snapshot`: do not edit.\n"

/** The types of a description, as the text of `src/schema.ts`. */
export async function typesOf(description: string): Promise<string> {
  return MADE + astToString(await openapiTypescript(description))
}

/**
 * The events of a description's streams, as the text of `src/streams.ts`: their types, and the members by which a client
 * checks them without a validator.
 *
 * @throws Error when a stream is described in another way than the service does
 */
export function streamsOf(description: string): string {
  const root: unknown = JSON.parse(description)
  const streams = Object.values(at(root, 'paths'))
    .flatMap((methods) => Object.values(at(methods)))
    .flatMap((operation) => {
      if (!JSON.stringify(operation).includes('"text/event-stream":')) return []
      const answer = at(operation, 'responses', '200', 'content', 'text/event-stream')
      const reference = String(at(answer, 'schema', 'contentSchema', 'items').$ref)
      const name = reference.replace('#/components/schemas/', '')
      const events = Object.values(at(root, 'components', 'schemas', name, 'oneOf')).map(eventOf)
      return [{ operation: String(at(operation).operationId), name, events }]
    })
  return `${MADE}import type { components } from './schema.ts'

/** Events of each stream, by its operation. */
export interface StreamEvents {
${streams.map(({ operation, name }) => `  ${operation}: components['schemas']['${name}']`).join('\n')}
}

/** Members that the data of each event must have, with their JSON types. */
export const EVENT_MEMBERS = {
${streams.map(({ operation, events }) => `  ${operation}: {\n    ${events.join(',\n    ')},\n  },`).join('\n')}
} as const
`
}

/** One event of the description, as a line of the table. Members of several types are not checked. */
function eventOf(event: unknown): string {
  const data = at(event, 'properties', 'data')
  const required = Object.values(at(data, 'required')).flatMap((name) => {
    const { type } = at(data, 'properties', String(name))
    return typeof type === 'string' ? [`${String(name)}: '${type === 'integer' ? 'number' : type}'`] : []
  })
  return `${String(at(event, 'properties', 'event').const)}: { ${required.join(', ')} }`
}

function at(value: unknown, ...path: readonly string[]): Readonly<Record<string, unknown>> {
  const [name, ...rest] = path
  if (typeof value !== 'object' || value === null) throw new Error('A stream is described in another way.')
  const members: Readonly<Record<string, unknown>> = { ...value }
  return name === undefined ? members : at(members[name], ...rest)
}
