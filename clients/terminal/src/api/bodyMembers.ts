import { usageError } from '../clientError.ts'
import { closestWords } from '../closest.ts'
import type { ApiClient } from './apiClient.ts'
import { operationsOf } from './description.ts'

/** An operation of the API, by its route: `/api/v1/endpoints/{endpointId}`. */
export interface Operation {
  readonly method: 'POST' | 'PUT' | 'PATCH'
  readonly route: string
}

/**
 * Refuses a member that the operation's body does not have. The API ignores such members, so that newer clients can
 * talk to older services; a member that the user typed is a mistake.
 *
 * @throws ClientError naming it, with close ones or all
 */
export async function requireMembers(
  api: ApiClient,
  { method, route }: Operation,
  members: readonly string[],
): Promise<void> {
  if (members.length === 0) return
  const operation = (await operationsOf(api)).find((one) => one.route === route && one.method === method)
  const known = (operation?.values ?? []).filter(({ place }) => place === 'body').map(({ name }) => name)
  // A document of its own, which the service reads strictly.
  if (known.length === 0) return
  const unknown = members.find((member) => !known.includes(member))
  if (unknown === undefined) return
  const close = closestWords(known, unknown)
  throw usageError(
    `Unknown member "${unknown}". Nothing was changed.`,
    close.length > 0 ? `Did you mean ${close.join(' or ')}?` : `Known members: ${known.join(', ')}.`,
  )
}
