import { z } from 'zod'
import type { Context } from '../api/context.ts'
import { type Between, pageByTime, type TimePlace, timeCursor, timeCursorInput } from '../api/cursors.ts'
import { envelope, type Page, paged, pageInput } from '../api/pagination.ts'
import { get, router } from '../api/route.ts'
import { optional, Timestamp } from '../api/values.ts'

/** Values of the state filter; an incident is open until `closedAt` is set. */
const INCIDENT_STATES = ['open', 'closed'] as const

/** One page of the incidents visible to the caller, newest first; served by `incidents_by_workspace`. */
async function listIncidents(
  { db, workspace, onlyEndpointId }: Pick<Context, 'db' | 'workspace' | 'onlyEndpointId'>,
  state: (typeof INCIDENT_STATES)[number] | undefined,
  page: Page & Between<TimePlace>,
) {
  const matching = db
    .selectFrom('incidents')
    .where('workspaceId', '=', workspace.id)
    .$if(onlyEndpointId !== null, (query) => query.where('endpointId', '=', onlyEndpointId))
    .$if(state === 'open', (query) => query.where('closedAt', 'is', null))
    .$if(state === 'closed', (query) => query.where('closedAt', 'is not', null))
    .select(['id', 'kind', 'severity', 'subjectType', 'subjectId', 'subjectName', 'endpointId'])
    .select(['endpointName', 'count', 'reason', 'openedAt', 'closedAt'])
  return await pageByTime(matching, ['openedAt', 'id'], page)
}

/** A current or past problem: dead letters of an action, an alarmed watchdog, a failing channel. */
const Incident = z
  .object({
    id: z.uuid(),
    kind: z.string().describe('The event kind that opened it'),
    severity: z.string(),
    subjectType: z.string(),
    subjectId: z.uuid(),
    subjectName: z.string(),
    endpointId: z.uuid().nullable(),
    endpointName: z.string().nullable(),
    count: z.int().describe('Number of occurrences'),
    reason: z.string().nullable().describe('Reason of the latest occurrence'),
    state: z.enum(INCIDENT_STATES),
    openedAt: Timestamp,
    closedAt: Timestamp.nullable(),
  })
  .meta({ id: 'Incident' })

export const incidentRoutes = router({
  list: get('/api/v1/incidents', {
    summary: 'List incidents, newest first',
    description:
      'One incident per outage of a subject, with a running count. Closed incidents are kept as long as alerts.',
    input: z.object({
      ...pageInput,
      ...timeCursorInput('incidents'),
      state: optional(z.enum(INCIDENT_STATES)).describe('Only those in this state'),
    }),
    output: envelope(Incident),
    narrows: true,
  }).query(async ({ ctx, input }) => {
    const found = await ctx.reads.run(({ db }) => listIncidents({ ...ctx, db }, input.state, input))
    return paged(found, input, {
      view: (row) => ({ ...row, state: row.closedAt === null ? ('open' as const) : ('closed' as const) }),
      cursorOf: ({ openedAt, id }) => timeCursor('incidents', { at: openedAt, id }),
    })
  }),
})
