import { type Db, type RowsOf, run, statement } from '../platform/db/index.ts'

/** Endpoints in an overview, the size of a list's first page. */
export const OVERVIEW_ENDPOINTS = 100

/** An endpoint in an overview. `rejectedCount`: captures answered 429 since its creation. */
export type OverviewRow = RowsOf<typeof ENDPOINTS>

/** State of a workspace. */
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

const TROUBLES = statement(
  'overview of troubles',
  `select
    (select count(*)::int from incidents
      where workspace_id = $1::uuid and closed_at is null and ($2::uuid is null or endpoint_id = $2::uuid)) as open_incident_count,
    (select count(*)::int from watchdogs
      where workspace_id = $1::uuid and phase = 'alarmed' and ($2::uuid is null or endpoint_id = $2::uuid)) as alarmed_watchdog_count`,
)

/**
 * Reads the state of a workspace, in two statements whose cost does not grow with its captures.
 *
 * @param onlyEndpointId limits the overview to this endpoint, if given
 */
export async function readOverview(
  db: Db,
  workspaceId: string,
  onlyEndpointId: string | null,
): Promise<Overview> {
  const of = [workspaceId, onlyEndpointId]
  const [endpoints, [troubles]] = await Promise.all([run(db, ENDPOINTS, of), run(db, TROUBLES, of)])
  return {
    endpoints,
    openIncidentCount: troubles?.openIncidentCount ?? 0,
    alarmedWatchdogCount: troubles?.alarmedWatchdogCount ?? 0,
  }
}
