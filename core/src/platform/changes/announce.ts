import { run, statement, type Trx } from '../db/index.ts'

/** Channel for notifications of endpoint changes; the payload is the endpoint's id. */
export const ENDPOINT_CHANNEL = 'creel_endpoints'

/** `$1`: the ids of endpoints. */
export const ANNOUNCE = statement(
  'announce endpoints',
  `select pg_notify('${ENDPOINT_CHANNEL}', id) from unnest($1::text[]) as id`,
)

/** Notifies every process of a change to these endpoints, once the transaction commits. */
export async function announceEndpointChange(trx: Trx, ...endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length > 0) await run(trx, ANNOUNCE, [[...new Set(endpointIds)]])
}
