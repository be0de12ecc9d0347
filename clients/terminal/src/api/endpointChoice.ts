import { type EndpointData, itemsOf } from 'creel-client'
import { ClientError } from '../clientError.ts'
import { editDistance } from '../closest.ts'
import { printHint } from '../output/print.ts'
import { agoText } from '../output/text.ts'
import { type ApiClient, ApiProblem } from './apiClient.ts'

/** Names in one error message. */
const NAMES_MAX = 5

/** Every endpoint of the workspace, newest first. */
export async function allEndpoints({ calls }: ApiClient): Promise<EndpointData[]> {
  const endpoints = await Array.fromAsync(itemsOf((from) => calls.endpoints.list({ ...from, pageSize: 100 })))
  return [...new Map(endpoints.map((endpoint) => [endpoint.id, endpoint])).values()]
}

/**
 * Finds an endpoint by name, id, the beginning of its id, or its capture URL. Without a text it is that of
 * `CREEL_ENDPOINT`, else the workspace's only endpoint.
 *
 * @param onlyReads whether the command changes nothing. If there are several endpoints, a person at a terminal then
 *   gets the one that captured last, with a note
 * @throws ClientError naming close ones when none or several match
 */
export async function chooseEndpoint(
  api: ApiClient,
  named: string | undefined,
  { onlyReads = false }: { readonly onlyReads?: boolean } = {},
): Promise<EndpointData> {
  const endpoints = await allEndpoints(api)
  const wanted = named ?? api.connection.endpoint
  if (wanted === undefined) {
    const [only, ...more] = endpoints
    if (only === undefined) {
      throw new ClientError('The workspace has no endpoint yet.', [
        'Create one: `creel endpoints create --name <name>`.',
      ])
    }
    if (more.length === 0) return only
    if (onlyReads && process.stdout.isTTY === true) {
      const last = lastUsed([only, ...more])
      printHint(`Using "${last.name}", the endpoint with the latest capture (of ${endpoints.length}).`)
      return last
    }
    throw new ClientError(
      'The workspace has several endpoints. Name one in the command or in CREEL_ENDPOINT.',
      [...listed(endpoints)],
    )
  }
  const [found, ...others] = fitting(endpoints, wanted)
  if (found === undefined) {
    const close = closest(endpoints, wanted)
    throw new ClientError(
      `There is no endpoint "${wanted}" in this workspace${named === undefined ? ' (from CREEL_ENDPOINT)' : ''}.`,
      close.length === 0
        ? ['`creel endpoints list` shows all endpoints; `creel endpoints create` creates one.']
        : ['Did you mean one of these?', ...listed(close)],
    )
  }
  if (others.length > 0) {
    throw new ClientError(`Several endpoints are named "${wanted}". Give an id.`, listed([found, ...others]))
  }
  return found
}

/**
 * The endpoint of a request: the named one, else the one that has captured it.
 *
 * @throws ClientError when no endpoint matches or none has captured it
 */
export async function endpointIdOf(api: ApiClient, wanted: string | undefined, requestId: number) {
  if (wanted !== undefined) return (await chooseEndpoint(api, wanted)).id
  const found = await api.calls.requests.find({ requestId, bodyBytesMax: 0 }).catch((error: unknown) => {
    // A service before 0.2.0 has no such route, so the user must name the endpoint.
    if (error instanceof ApiProblem && error.code === 'unknown') return undefined
    if (error instanceof ApiProblem && error.code === 'not_found')
      throw new ClientError(`There is no request ${requestId} in this workspace.`, error.nextStep)
    throw error
  })
  return found?.endpointId ?? (await chooseEndpoint(api, wanted)).id
}

/** The endpoint that captured last; the newest where none has. */
export function lastUsed(endpoints: readonly [EndpointData, ...EndpointData[]]): EndpointData {
  return endpoints.reduce((latest, one) =>
    (one.lastRequestAt ?? '') > (latest.lastRequestAt ?? '') ? one : latest,
  )
}

/** The endpoints that match a text, by the first way of matching that finds any. */
function fitting(endpoints: readonly EndpointData[], wanted: string): readonly EndpointData[] {
  const captureId = /\/hook\/([0-9a-f-]+)/i.exec(wanted)?.[1]?.toLowerCase()
  const id = captureId ?? wanted
  const ways: readonly ((endpoint: EndpointData) => boolean)[] = [
    (endpoint) => captureId !== undefined && endpoint.url.endsWith(`/hook/${captureId}`),
    (endpoint) => endpoint.id === id.toLowerCase(),
    (endpoint) => endpoint.name === wanted,
    (endpoint) => endpoint.name.toLowerCase() === wanted.toLowerCase(),
    (endpoint) => wanted.length >= 4 && endpoint.id.startsWith(wanted.toLowerCase()),
  ]
  for (const fits of ways) {
    const found = endpoints.filter(fits)
    if (found.length > 0) return found
  }
  return []
}

const listed = (endpoints: readonly EndpointData[]) => [
  ...endpoints
    .slice(0, NAMES_MAX)
    .map(
      ({ id, name, storedRequestCount, lastRequestAt }) =>
        `  ${name} (${id.slice(0, 8)}), ${storedRequestCount} stored${
          lastRequestAt === null ? '' : `, latest ${agoText(lastRequestAt, Date.now())}`
        }`,
    ),
  ...(endpoints.length > NAMES_MAX
    ? [`  and ${endpoints.length - NAMES_MAX} more: see \`creel endpoints list\``]
    : []),
]

/** Endpoints with a name that contains the text or differs by few letters, the nearest first. */
function closest(endpoints: readonly EndpointData[], wanted: string): EndpointData[] {
  const word = wanted.toLowerCase()
  return endpoints
    .map((endpoint) => {
      const name = endpoint.name.toLowerCase()
      const distances = [name, ...name.split(/\s+/)].map((part) => editDistance(part, word))
      const distance = name.includes(word) || word.includes(name) ? 0 : Math.min(...distances)
      return { endpoint, distance }
    })
    .filter(({ distance }) => distance <= Math.max(2, word.length / 2))
    .sort((left, right) => left.distance - right.distance)
    .map(({ endpoint }) => endpoint)
}
