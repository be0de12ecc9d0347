import { createHash } from 'node:crypto'
import { type Path, parsePath, type ReadRoot, readValue } from '../../engine/conditions/index.ts'
import { writeJson } from '../../engine/json/index.ts'
import { run, statement, type Trx } from '../../platform/db/index.ts'
import { ORDER_BY_ENDPOINT, storedPolicy } from '../policy.ts'

/** Order key of every delivery of an action that is ordered by `endpoint`. */
const ENDPOINT_KEY = 'endpoint'
/** A key of more characters is stored as its digest. */
export const ORDER_KEY_CHARACTERS_MAX = 200

/** Reads the order key of a request. A request without a key (null) waits for no other. */
export type OrderKeyOf = (root: ReadRoot) => string | null

/** Makes the reader of an action's order keys; null for an action without an order. */
export function orderKeyReader(policyText: string | null): OrderKeyOf | null {
  const by = storedPolicy(policyText).order?.by
  if (by === undefined) return null
  if (by === ORDER_BY_ENDPOINT) return () => ENDPOINT_KEY
  const parsed = parsePath(by, { every: false, deliveryFacts: false })
  return 'path' in parsed ? (root) => keyAt(root, parsed.path) : null
}

function keyAt(root: ReadRoot, path: Path): string | null {
  const value = readValue(root, path)
  if (value === undefined || value === null) return null
  const text = typeof value === 'string' ? value : writeJson(value)
  // PostgreSQL's text holds no NUL.
  const isStorable = text.length <= ORDER_KEY_CHARACTERS_MAX && !text.includes('\0')
  return isStorable ? text : `sha256:${createHash('sha256').update(text).digest('hex')}`
}

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
