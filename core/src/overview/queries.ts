import { FAILED_STATES } from '../engine/words/index.ts'
import { type Db, type RowsOf, run, statement } from '../platform/db/index.ts'
import { sendsRequest } from '../requests/index.ts'

/** Endpoints in an overview, the size of a list's first page. */
export const OVERVIEW_ENDPOINTS = 100

/**
 * An endpoint in an overview. `rejectedCount`: captures answered 429 since its creation. `attentionCount`: see
 * {@link readAttention}.
 */
export type OverviewRow = RowsOf<typeof ENDPOINTS> & { readonly attentionCount: number }

/** Newest failed attempts of an endpoint that the number of requests which need attention is counted from. */
const FAILURES_MAX = 200

/** Requests of an endpoint that need attention, by its id. Other endpoints have none. */
export type Attention = ReadonlyMap<string, number>

export interface Overview {
  /** The newest endpoints, newest first; at most {@link OVERVIEW_ENDPOINTS}. */
  readonly endpoints: readonly OverviewRow[]
  readonly openIncidentCount: number
  readonly alarmedWatchdogCount: number
}

const ENDPOINTS = statement(
  'overview of endpoints',
  `select e.id, e.name, e.is_active, e.expires_at, c.stored_request_count, c.last_request_at, c.rejected_count
  from endpoints e join endpoint_counters c on c.endpoint_id = e.id
  where e.workspace_id = $1::uuid and e.deleted_at is null and ($2::uuid is null or e.id = $2::uuid)
  order by e.created_at desc, e.id desc limit ${OVERVIEW_ENDPOINTS}`,
)

// The newest failure of an action counts if no attempt has followed it, and request and action are still there.
const ATTENTION = statement(
  'overview of attention',
  `select e.id, n.attention_count
  from (
    select id from endpoints
    where workspace_id = $1::uuid and deleted_at is null and ($2::uuid is null or id = $2::uuid)
    order by created_at desc, id desc limit ${OVERVIEW_ENDPOINTS}
  ) e cross join lateral (
    select count(distinct f.request_id)::int as attention_count
    from (
      select a.request_id, a.action_id, max(a.id) as id
      from (
        select request_id, action_id, id, trigger from delivery_attempts
        where endpoint_id = e.id and state in (${[...FAILED_STATES, 'Interrupted'].map((state) => `'${state}'`).join(', ')})
        order by id desc limit ${FAILURES_MAX}
      ) a
      where ${sendsRequest('a')}
      group by a.request_id, a.action_id
    ) f
    where exists (select from actions c where c.id = f.action_id)
      and exists (
        select from requests r
        where r.endpoint_id = e.id and r.id = f.request_id and r.deleted_at is null and r.hidden_at is null)
      and not exists (
        select from delivery_attempts b
        where b.endpoint_id = e.id and b.request_id = f.request_id and b.id > f.id
          and b.action_id = f.action_id and ${sendsRequest('b')})
  ) n
  where n.attention_count > 0`,
)

/**
 * Counts the requests that need attention, by endpoint. It looks at the newest {@link FAILURES_MAX} failures of each, so
 * that its cost does not grow with captures or failures.
 */
export async function readAttention(
  db: Db,
  workspaceId: string,
  onlyEndpointId: string | null,
): Promise<Attention> {
  const rows = await run(db, ATTENTION, [workspaceId, onlyEndpointId])
  return new Map(rows.map(({ id, attentionCount }) => [id, attentionCount]))
}

/** `$3` now, because watchdogs of expired endpoints do not count. */
const TROUBLES = statement(
  'overview of troubles',
  `select
    (select count(*)::int from incidents
      where workspace_id = $1::uuid and closed_at is null and ($2::uuid is null or endpoint_id = $2::uuid)) as open_incident_count,
    (select count(*)::int from watchdogs w join endpoints e on e.id = w.endpoint_id
      where w.workspace_id = $1::uuid and w.phase = 'alarmed' and ($2::uuid is null or w.endpoint_id = $2::uuid)
        and e.deleted_at is null and (e.expires_at is null or e.expires_at > $3::timestamptz)) as alarmed_watchdog_count`,
)

/**
 * Reads the state of a workspace, in two statements whose cost does not grow with its captures.
 *
 * @param onlyEndpointId limits the overview to this endpoint, if given
 * @param attention a recent count
 */
export async function readOverview(
  db: Db,
  workspaceId: string,
  onlyEndpointId: string | null,
  { attention, now }: { readonly attention: Attention; readonly now: Date },
): Promise<Overview> {
  const of = [workspaceId, onlyEndpointId]
  const [endpoints, [troubles]] = await Promise.all([run(db, ENDPOINTS, of), run(db, TROUBLES, [...of, now])])
  return {
    endpoints: endpoints.map((row) => ({ ...row, attentionCount: attention.get(row.id) ?? 0 })),
    openIncidentCount: troubles?.openIncidentCount ?? 0,
    alarmedWatchdogCount: troubles?.alarmedWatchdogCount ?? 0,
  }
}
