/** Sources of the client that are made from the API's description. This file needs no packages. */

/**
 * The events of a description's streams, as the text of `src/streams.ts` below its first line: their types, and the members by which a client
 * checks them without a validator.
 *
 * @throws Error when a stream is described in another way than the service does
 */
export function streamsOf(description: string): string {
  const streams = streamsIn(JSON.parse(description))
  return `import type { components } from './schema.ts'

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

function streamsIn(root: unknown) {
  return Object.entries(at(root, 'paths'))
    .flatMap(([path, methods]) => Object.values(at(methods)).map((operation) => ({ path, operation })))
    .flatMap(({ path, operation }) => {
      if (!JSON.stringify(operation).includes('"text/event-stream":')) return []
      const answer = at(operation, 'responses', '200', 'content', 'text/event-stream')
      const reference = String(at(answer, 'schema', 'contentSchema', 'items').$ref)
      const name = reference.replace('#/components/schemas/', '')
      const events = Object.values(at(root, 'components', 'schemas', name, 'oneOf')).map((event) =>
        eventOf(root, event),
      )
      const { operationId, summary } = at(operation)
      return [{ operation: String(operationId), name, events, summary, path }]
    })
}

/**
 * A method for each operation of a description that takes and answers JSON, and for each stream, as the text of `src/calls.ts` below its first line. The
 * route of an operation is method and path; after `?` the members of the query of one that has a body.
 *
 * @throws Error when a body has a member with the name of a parameter, since calls take both as one object
 */
export function callsOf(description: string): string {
  const root: unknown = JSON.parse(description)
  const nouns: Record<string, string> = {}
  for (const [path, methods] of Object.entries(at(root, 'paths'))) {
    for (const [method, operation] of Object.entries(at(methods))) {
      const { operationId, summary, parameters = [], requestBody = {}, responses } = at(operation)
      const [noun = '', verb = ''] = String(operationId).split('_')
      const answers = Object.entries(at(responses)).filter(([status]) => status.startsWith('2'))
      const contents = [requestBody, ...answers.map(([, answer]) => answer)].map((one) =>
        at(at(one).content ?? {}),
      )
      if (contents.some((content) => Object.keys(content).some((type) => type !== 'application/json')))
        continue
      const given = Object.values(at(parameters)).map((one) => at(one))
      const inBody =
        contents[0]?.['application/json'] === undefined
          ? []
          : membersOf(root, at(contents[0], 'application/json', 'schema'))
      const twice = given.find(({ name }) => inBody.includes(String(name)))
      if (twice !== undefined) throw new Error(`${operationId} takes ${twice.name} in two places.`)
      const query = given.filter((one) => one.in === 'query' && !['get', 'delete'].includes(method))
      const route = [`${method.toUpperCase()} ${path}`, ...query.map(({ name }) => name)].join('?')
      nouns[noun] =
        `${nouns[noun] ?? ''}    /** ${summary} */\n    ${verb}: call<'${operationId}'>('${route}'),\n`
    }
  }
  const streams = Map.groupBy(streamsIn(root), ({ operation }) => operation.split('_')[0])
  return `import type { MakeCall, MakeStream } from './call.ts'

/** A method for each operation of the API that takes and answers JSON, by its noun. Members of path, query and body are one object. */
export const callsOf = (call: MakeCall) => ({
${Object.entries(nouns)
  .map(([noun, methods]) => `  ${noun}: {\n${methods}  },\n`)
  .join('')}})

/** A method for each operation that takes and answers JSON, by its noun. Each rejects with a \`CreelError\` for a refusal. */
export type Calls = ReturnType<typeof callsOf>

/** A method for each stream of the API, by its noun. */
export const streamsOf = (stream: MakeStream) => ({
${[...streams].map(([noun, methods]) => `  ${noun}: {\n${methods.map(streamMethod).join('')}  },\n`).join('')}})

/** A method for each stream, by its noun: \`streams.requests.follow({ endpointId })\`. */
export type Streams = ReturnType<typeof streamsOf>
`
}

const streamMethod = ({ operation, path, summary }: ReturnType<typeof streamsIn>[number]): string =>
  `    /** ${summary} */\n    ${operation.split('_')[1]}: stream('${operation}', '${path}'),\n`

/** Names of the members of a body, which may be a named schema. */
function membersOf(root: unknown, schema: Readonly<Record<string, unknown>>): readonly string[] {
  const { $ref, properties = {} } = schema
  if (typeof $ref !== 'string') return Object.keys(at(properties))
  return membersOf(root, at(root, 'components', 'schemas', $ref.replace('#/components/schemas/', '')))
}

/** One event of the description, as a line of the table. Members of several types are not checked. */
function eventOf(root: unknown, event: unknown): string {
  const given = at(event, 'properties', 'data')
  const { $ref } = given
  const data =
    typeof $ref === 'string'
      ? at(root, 'components', 'schemas', $ref.replace('#/components/schemas/', ''))
      : given
  const required = Object.values(at(data, 'required')).flatMap((name) => {
    const { type } = at(data, 'properties', String(name))
    return typeof type === 'string' ? [`${String(name)}: '${type === 'integer' ? 'number' : type}'`] : []
  })
  const name = String(at(event, 'properties', 'event').const)
  return `${name}: { ${required.join(', ')} }`
}

function at(value: unknown, ...path: readonly string[]): Readonly<Record<string, unknown>> {
  const [name, ...rest] = path
  if (typeof value !== 'object' || value === null) throw new Error('A stream is described in another way.')
  const members: Readonly<Record<string, unknown>> = { ...value }
  return name === undefined ? members : at(members[name], ...rest)
}
