import { type Db, run, statement } from '../platform/db/index.ts'

/** As many endpoints as the first page of a list. */
export const OVERVIEW_ENDPOINTS = 100

/** What a list shows of an endpoint. */
export interface OverviewRow {
  readonly id: string
  readonly name: string
  readonly isActive: boolean
  readonly expiresAt: Date | null
  readonly storedRequestCount: number
  readonly lastRequestAt: Date | null
  /** Captures answered 429 since it was made. */
  readonly rejectedCount: number
}

/** Where a workspace stands. */
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
 * Reads where a workspace stands: two statements, whose cost does not grow with its captures.
 *
 * @param onlyEndpointId nothing but this endpoint, if given
 */
export async function readOverview(
  db: Db,
  workspaceId: string,
  onlyEndpointId: string | null,
): Promise<Overview> {
  const of = [workspaceId, onlyEndpointId]
  const [endpoints, [troubles]] = await Promise.all([
    run<OverviewRow>(db, ENDPOINTS, of),
    run<Omit<Overview, 'endpoints'>>(db, TROUBLES, of),
  ])
  return {
    endpoints,
    openIncidentCount: troubles?.openIncidentCount ?? 0,
    alarmedWatchdogCount: troubles?.alarmedWatchdogCount ?? 0,
  }
}
