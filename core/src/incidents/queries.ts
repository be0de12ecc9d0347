import { type Page, window } from '../api/pagination.ts'
import type { Db } from '../platform/db/index.ts'

/** States that the list can be narrowed to; an incident is open until `closedAt` is set. */
export const INCIDENT_STATES = ['open', 'closed'] as const

/** One page of the workspace's incidents, newest first; served by `incidents_by_workspace`. */
export async function listIncidents(
  db: Db,
  workspaceId: string,
  state: (typeof INCIDENT_STATES)[number] | undefined,
  page: Page,
) {
  const { limit, offset } = window(page)
  const matching = db
    .selectFrom('incidents')
    .where('workspaceId', '=', workspaceId)
    .$if(state === 'open', (query) => query.where('closedAt', 'is', null))
    .$if(state === 'closed', (query) => query.where('closedAt', 'is not', null))
  const rows = await matching
    .select(['id', 'kind', 'severity', 'subjectType', 'subjectId', 'subjectName', 'endpointId'])
    .select(['endpointName', 'count', 'reason', 'openedAt', 'closedAt'])
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
