import { run, statement, type Trx } from '../../platform/db/index.ts'

/** The keys of an action's deliveries, which are locked in the order in which they are claimed. */
const KEYS = statement(
  'order keys of an action',
  `select id, order_key from deliveries
  where endpoint_id = $1::uuid and action_id = $2::uuid and order_key is not null order by id for update`,
  { isPrepared: false },
)

const REKEY = statement(
  'replace order keys',
  `update deliveries d set order_key = g.digest from unnest($2::text[], $3::text[]) as g (key, digest)
  where d.endpoint_id = $1::uuid and d.action_id = $4::uuid and d.order_key = g.key`,
  { isPrepared: false },
)

/**
 * Replaces the order keys of an action's deliveries by their digests, as later captures have them.
 *
 * @param digest null leaves them
 * @returns whether some delivery has a key
 */
export async function rekeyDeliveries(
  trx: Trx,
  { endpointId, actionId }: { readonly endpointId: string; readonly actionId: string },
  digest: ((key: string) => string) | null,
): Promise<boolean> {
  const rows = await run(trx, KEYS, [endpointId, actionId])
  const keys = [...new Set(rows.flatMap(({ orderKey }) => orderKey ?? []))]
  if (keys.length > 0 && digest !== null)
    await run(trx, REKEY, [endpointId, keys, keys.map(digest), actionId])
  return keys.length > 0
}
