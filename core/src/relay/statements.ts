import { type Db, type RowsOf, run, statement, type Trx } from '../platform/db/index.ts'

/** Serializes creations over all processes, so that no bound is exceeded: "relay" in ASCII. */
const LOCK = statement('lock relay', 'select pg_advisory_xact_lock(491327284601)')

const LIVE = statement(
  'count live relay endpoints',
  `select count(*)::int as live from relay_endpoints r
  join endpoints e on e.id = r.endpoint_id and e.deleted_at is null`,
)

/** `$1` the address, `$2` the present, `$3` the start of the rate's window, `$4` the beginning of its network or null. */
const USE = statement(
  'read use of relay',
  `select
    (select count(*)::int from relay_endpoints r join endpoints e on e.id = r.endpoint_id) as stored,
    (select count(*)::int from relay_endpoints r join endpoints e on e.id = r.endpoint_id
      where r.address = $1 and e.deleted_at is null and e.expires_at > $2) as live,
    (select count(*)::int from relay_endpoints r join endpoints e on e.id = r.endpoint_id
      where starts_with(r.address, $4) and e.deleted_at is null and e.expires_at > $2) as live_in_network,
    (select count(*)::int from relay_endpoints where address = $1 and created_at > $3) as created,
    (select min(created_at) from relay_endpoints where address = $1 and created_at > $3) as first_at`,
)

/**
 * Use of a relay. `stored`: endpoints of all addresses, those that wait to be purged included. `live`: live endpoints
 * of the address, `liveInNetwork` of its IPv6 /48. `created` and `firstAt`: endpoints that it created in the rate's window, and the time of the first.
 */
export type RelayUse = RowsOf<typeof USE>

/** Reads the use of a relay, and holds it still until the transaction ends. */
export async function lockUse(
  trx: Trx,
  { address, now, since }: { readonly address: string; readonly now: Date; readonly since: Date },
): Promise<RelayUse> {
  await run(trx, LOCK, [])
  const [use] = await run(trx, USE, [address, now, since, networkOf(address)])
  if (use === undefined) throw new Error('The use of the relay has no row.')
  return use
}

/** The beginning that all addresses of an IPv6 /48 share, as {@link insertRelayEndpoint} stores them; null for IPv4. */
export function networkOf(address: string): string | null {
  return /^(?:[0-9a-f]+:){3}/i.exec(address)?.[0] ?? null
}

export async function insertRelayEndpoint(
  trx: Trx,
  row: { endpointId: string; workspaceId: string; address: string; createdAt: Date },
): Promise<void> {
  await trx.insertInto('relayEndpoints').values(row).execute()
}

/**
 * `$1` the present, `$2` the time of the last use before which an endpoint is idle, `$3` the beginning of a network or
 * null for all, `$4` the most of them or null for all, `$5` the only endpoint that is asked about or null for all.
 */
const FIND_IDLE = statement(
  'find idle relay endpoints',
  `select r.endpoint_id from relay_endpoints r
  join endpoints e on e.id = r.endpoint_id and e.deleted_at is null
  join endpoint_counters c on c.endpoint_id = e.id
  left join lateral (select max(k.last_used_at) as at from api_keys k where k.endpoint_id = e.id) k on true
  where greatest(r.created_at, c.last_request_at, k.at) < $2 and ($3::text is null or starts_with(r.address, $3))
    and ($5::uuid is null or r.endpoint_id = $5)
    and not exists (select from concurrency_slots s where s.scope = 'listener:' || e.id and s.kept_from is null and s.ends_at > $1)
  order by greatest(r.created_at, c.last_request_at, k.at), r.endpoint_id limit $4`,
)

/** The live endpoints that had no capture, no call and no listener since a time, the longest idle first. */
export async function findIdle(
  db: Db,
  { now, since, network = null, limit = null, only = null }: IdleSearch,
): Promise<string[]> {
  const rows = await run(db, FIND_IDLE, [now, since, network, limit, only])
  return rows.map(({ endpointId }) => endpointId)
}

interface IdleSearch {
  readonly now: Date
  readonly since: Date
  /** As {@link networkOf} returns it; null for all. */
  readonly network?: string | null
  readonly limit?: number | null
  /** The only endpoint that is asked about; null for all. */
  readonly only?: string | null
}

/** Endpoints of all addresses that have not ended. */
export async function countLive(db: Db): Promise<number> {
  const [row] = await run(db, LIVE, [])
  return row?.live ?? 0
}

/** `$1` the end of the rate's window for what was created. */
const FORGET = statement(
  'forget relay endpoints',
  `delete from relay_endpoints r
  where created_at < $1 and not exists (select from endpoints e where e.id = r.endpoint_id)`,
)

/** Forgets endpoints that are purged and count for no rate. */
export async function forgetEnded(trx: Trx, before: Date): Promise<void> {
  await run(trx, FORGET, [before])
}

/** Workspaces of the relay whose endpoint is purged. */
export async function findEmptyWorkspaces(trx: Trx): Promise<string[]> {
  const rows = await trx
    .selectFrom('relayEndpoints as r')
    .innerJoin('workspaces as w', 'w.id', 'r.workspaceId')
    .where((where) =>
      where.not(where.exists(where.selectFrom('endpoints as e').whereRef('e.id', '=', 'r.endpointId'))),
    )
    .select('w.id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Whether the database has a workspace that is not of a relay. */
export async function hasOtherWorkspaces(db: Db): Promise<boolean> {
  const other = await db
    .selectFrom('workspaces as w')
    .where((where) =>
      where.not(where.exists(where.selectFrom('relayEndpoints as r').whereRef('r.workspaceId', '=', 'w.id'))),
    )
    .select('w.id')
    .limit(1)
    .executeTakeFirst()
  return other !== undefined
}
