import type { Context } from '../api/context.ts'
import { type Between, isBetween, type TimePlace } from '../api/cursors.ts'
import { type Page, window } from '../api/pagination.ts'

/** Values of the state filter; an incident is open until `closedAt` is set. */
export const INCIDENT_STATES = ['open', 'closed'] as const

/** One page of the incidents visible to the caller, newest first; served by `incidents_by_workspace`. */
export async function listIncidents(
  { db, workspace, onlyEndpointId }: Pick<Context, 'db' | 'workspace' | 'onlyEndpointId'>,
  state: (typeof INCIDENT_STATES)[number] | undefined,
  page: Page & Between<TimePlace>,
) {
  const { limit, offset } = window(page)
  const matching = db
    .selectFrom('incidents')
    .where('workspaceId', '=', workspace.id)
    .$if(onlyEndpointId !== null, (query) => query.where('endpointId', '=', onlyEndpointId))
    .$if(state === 'open', (query) => query.where('closedAt', 'is', null))
    .$if(state === 'closed', (query) => query.where('closedAt', 'is not', null))
  const rows = await matching
    .select(['id', 'kind', 'severity', 'subjectType', 'subjectId', 'subjectName', 'endpointId'])
    .select(['endpointName', 'count', 'reason', 'openedAt', 'closedAt'])
    .where(isBetween('openedAt', 'id', page))
    .orderBy('openedAt', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  const { count } = await matching
    .select((of) => of.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return { rows, totalCount: count }
}
