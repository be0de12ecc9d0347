import { z } from 'zod'
import { timeCursor, timeCursorInput } from '../api/cursors.ts'
import { envelope, paged, pageInput } from '../api/pagination.ts'
import { route, router } from '../api/route.ts'
import { optional, Timestamp } from '../api/values.ts'
import { INCIDENT_STATES, listIncidents } from './incidentList.ts'

/** A current or past problem: dead letters of an action, an alarmed watchdog, a failing channel. */
const Incident = z
  .object({
    id: z.uuid(),
    kind: z.string().meta({ description: 'The event kind that opened it' }),
    severity: z.string(),
    subjectType: z.string(),
    subjectId: z.uuid(),
    subjectName: z.string(),
    endpointId: z.uuid().nullable(),
    endpointName: z.string().nullable(),
    count: z.int().meta({ description: 'Number of occurrences' }),
    reason: z.string().nullable().meta({ description: 'Reason of the latest occurrence' }),
    state: z.enum(INCIDENT_STATES),
    openedAt: Timestamp,
    closedAt: Timestamp.nullable(),
  })
  .meta({ id: 'Incident' })

/** List the incidents of the workspace. */
export const incidentRoutes = router({
  list: route({
    method: 'GET',
    path: '/api/v1/incidents',
    summary: 'List incidents, newest first',
    description:
      'One incident per outage of a subject, with a running count. Closed incidents are kept as long as alerts.',
    input: z.object({
      ...pageInput,
      ...timeCursorInput,
      state: optional(z.enum(INCIDENT_STATES)).meta({ description: 'Only those in this state' }),
    }),
    output: envelope(Incident),
    narrows: true,
  }).query(async ({ ctx, input }) => {
    const found = await ctx.reads.run(({ db }) => listIncidents({ ...ctx, db }, input.state, input))
    return paged(found, input, {
      view: (row) => ({ ...row, state: row.closedAt === null ? ('open' as const) : ('closed' as const) }),
      cursorOf: ({ openedAt, id }) => timeCursor({ at: openedAt, id }),
    })
  }),
})
