import { z } from 'zod'
import { closeIncidentsSilently } from '../alerts/index.ts'
import type { Context } from '../api/context.ts'
import type { Finds } from '../api/contract.ts'
import { createdCursor, timeCursorInput } from '../api/cursors.ts'
import { foundById, notFound } from '../api/errors.ts'
import { EXAMPLE_IDS } from '../api/examples.ts'
import { envelope, paged, pageInput } from '../api/pagination.ts'
import { requireFeature } from '../api/planGates.ts'
import { get, post, put, remove, router } from '../api/route.ts'
import { InstantInput, optional } from '../api/values.ts'
import { recordChange } from '../audit/index.ts'
import { findsNamedEndpoint, namedEndpointOf } from '../endpoints/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { searching } from '../requests/index.ts'
import { lockWorkspace } from '../workspaces/index.ts'
import { createWatchdog, watchdogChange } from './create.ts'
import { parseMatchText } from './match.ts'
import {
  deleteWatchdog,
  findWatchdog,
  listLabels,
  listOutages,
  listWatchdogs,
  type WatchdogRow,
} from './queries.ts'
import {
  createInput,
  endpointQuery,
  updateInput,
  Watchdog,
  WatchdogLabels,
  WatchdogSuggestion,
  WatchdogTimeline,
} from './schema.ts'
import { applyWatchdogLimit } from './settle.ts'
import { suggestWatchdog } from './suggestion.ts'
import { checkWatchdogInput, setWatchdogActive, updateWatchdogMembers } from './update.ts'
import { timelineOf, timelinePeriod, watchdogView } from './view.ts'

/**
 * Deletes a watchdog. Its open incident is closed without a recovery; a watchdog that was paused by plan may resume.
 */
async function removeWatchdog(ctx: Context, watchdog: WatchdogRow): Promise<void> {
  await ctx.db.transaction().execute(async (trx) => {
    await lockWorkspace(trx, ctx.workspace.id)
    await deleteWatchdog(trx, watchdog)
    await closeIncidentsSilently(ctx, trx, 'watchdog.alarmed', [watchdog.id])
    await applyWatchdogLimit(ctx, trx, { workspaceId: ctx.workspace.id, plan: ctx.plan })
    await announceEndpointChange(trx, watchdog.endpointId)
    await recordChange(trx, ctx, watchdogChange('watchdogs.remove', watchdog, null))
  })
}

/**
 * Finds the watchdog that `{id}` names.
 * @throws DomainError `not_found` for an absent, foreign or malformed id alike, and when its endpoint is gone
 */
const findsWatchdog: Finds<{ watchdog: WatchdogRow }> = async (ctx, ids) => {
  const { db, workspace, clock, onlyEndpointId } = ctx
  const watchdog = await foundById(ids.id, 'watchdog', (id) =>
    findWatchdog(db, workspace.id, id, clock.now()),
  )
  if (onlyEndpointId !== null && watchdog.endpointId !== onlyEndpointId) throw notFound('watchdog')
  return { watchdog }
}

const id = z.string().meta({ format: 'uuid', description: 'Id of the watchdog' })

/** Manage watchdogs, and suggest intervals and labels from the history of an endpoint. */
export const watchdogRoutes = router({
  list: get('/api/v1/watchdogs', {
    summary: 'List watchdogs, newest first',
    input: z.object({ ...pageInput, ...timeCursorInput('watchdogs') }),
    output: envelope(Watchdog),
    narrows: true,
  }).query(async ({ ctx, input }) => {
    const now = ctx.clock.now()
    const found = await ctx.reads.run(({ db }) => listWatchdogs({ ...ctx, db }, input, now))
    const outages = await listOutages(ctx.db)
    return paged(found, input, {
      view: (row) => watchdogView(row, now, outages),
      cursorOf: createdCursor('watchdogs'),
    })
  }),

  create: post('/api/v1/watchdogs', {
    summary: 'Create a watchdog, active at once on the history of its endpoint',
    tool: {
      name: 'arm_watchdog',
      title: 'Create a watchdog',
      description: 'Alarms when no webhook arrives within the interval and its grace.',
      effect: 'adds',
      members: ['endpointId', 'name', 'expectedIntervalSeconds', 'graceSeconds'],
    },
    description:
      'With a stored match, its clock runs from the newest one, so a history older than interval and grace alarms at the first check. Without one it is `waiting`, and its clock runs from now.',
    input: createInput,
    example: {
      endpointId: EXAMPLE_IDS.endpoint,
      name: 'Nightly export',
      expectedIntervalSeconds: 86400,
      graceSeconds: 3600,
    },
    output: Watchdog,
    status: 201,
    errors: ['not_found', 'limit_reached', 'feature_not_in_plan'],
    finds: findsNamedEndpoint,
    gate: ({ plan }) => requireFeature(plan, 'watchdogs'),
    check: (ctx, input) => checkWatchdogInput(ctx, input),
  }).mutation(({ ctx, input }) => createWatchdog(ctx, namedEndpointOf(ctx), input)),

  suggest: get('/api/v1/watchdogs/suggest', {
    summary: 'Suggest interval and grace from the rhythm of stored captures',
    tool: {
      name: 'suggest_watchdog',
      title: 'Suggest a watchdog',
      description: 'The interval and grace that the history of an endpoint supports.',
      effect: 'reads',
      members: ['endpointId'],
    },
    input: z.object({
      ...endpointQuery,
      match: optional(z.string()).describe('A condition as JSON text; left out, every capture is measured'),
    }),
    output: WatchdogSuggestion,
    errors: ['not_found'],
    finds: findsNamedEndpoint,
    check: (_ctx, input) => {
      const parsed = parseMatchText(input.match)
      return 'issues' in parsed ? parsed.issues : []
    },
  }).query(({ ctx, input }) => suggestWatchdog(ctx, namedEndpointOf(ctx), input.match)),

  labels: get('/api/v1/watchdogs/labels', {
    summary: 'List the labels of stored captures, most frequent first',
    input: z.object(endpointQuery),
    output: WatchdogLabels,
    errors: ['not_found'],
    finds: findsNamedEndpoint,
  }).query(async ({ ctx }) => {
    const { id } = namedEndpointOf(ctx)
    return { items: await searching(ctx, `labels ${id}`, (db, options) => listLabels(db, id, options)) }
  }),

  get: get('/api/v1/watchdogs/{id}', {
    summary: 'Read a watchdog',
    input: z.object({ id }),
    output: Watchdog,
    narrows: true,
    finds: findsWatchdog,
  }).query(async ({ ctx }) => watchdogView(ctx.watchdog, ctx.clock.now(), await listOutages(ctx.db))),

  timeline: get('/api/v1/watchdogs/{id}/timeline', {
    summary: 'Read the timeline of a watchdog: matches, alarms, and outages of the service',
    description:
      'Covers the stored captures, by the present match. The period is at most 62 days; the beginning of a longer one is cut off. One of less than a minute begins a minute before `to`.',
    input: z.object({
      id,
      from: optional(InstantInput).describe('Begin; default eight intervals before `to`'),
      to: optional(InstantInput).describe('End, exclusive; default now'),
    }),
    output: WatchdogTimeline,
    narrows: true,
    finds: findsWatchdog,
  }).query(({ ctx, input }) =>
    timelineOf(ctx, ctx.watchdog, timelinePeriod(ctx.watchdog, ctx.clock.now(), input)),
  ),

  update: put('/api/v1/watchdogs/{id}', {
    summary: 'Change the named members of a watchdog',
    description:
      'Deadlines are recomputed. Another `match` starts over on its own history; an interval change alone cannot send a second alarm.',
    input: updateInput,
    example: { graceSeconds: 7200 },
    output: Watchdog,
    narrows: true,
    finds: findsWatchdog,
    check: (ctx, input) => checkWatchdogInput(ctx, input, ctx.watchdog),
  }).mutation(({ ctx, input }) => updateWatchdogMembers(ctx, ctx.watchdog, input)),

  remove: remove('/api/v1/watchdogs/{id}', {
    summary: 'Delete a watchdog',
    input: z.object({ id }),
    output: z.null(),
    narrows: true,
    finds: findsWatchdog,
  }).mutation(async ({ ctx }) => {
    await removeWatchdog(ctx, ctx.watchdog)
    return null
  }),

  setActive: post('/api/v1/watchdogs/{id}/active', {
    summary: 'Pause or resume a watchdog; resuming restarts its interval now',
    input: z.object({ id, active: z.boolean() }),
    example: { active: false },
    output: Watchdog,
    narrows: true,
    finds: findsWatchdog,
  }).mutation(({ ctx, input }) => setWatchdogActive(ctx, ctx.watchdog, input.active)),
})
