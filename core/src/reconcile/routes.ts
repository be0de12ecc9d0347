import { createdCursor, pageByTime } from '../api/cursors.ts'
import { foundById } from '../api/errors.ts'
import { envelope, paged } from '../api/pagination.ts'
import { get, post, router } from '../api/route.ts'
import { findsEndpoint } from '../endpoints/index.ts'
import { readGaps } from './gaps.ts'
import { runsOf } from './queries.ts'
import { Gaps, gapsInput, getInput, listInput, Reconciliation, startInput } from './schema.ts'
import { checkStart, startReconciliation } from './start.ts'
import { runView } from './view.ts'

export const reconcileRoutes = router({
  start: post('/api/v1/endpoints/{endpointId}/reconcile', {
    summary: "Compare captures with the sender's event list, and fetch the missing events",
    description:
      'For endpoints with the provider `stripe` or `github`. An event is missing when no capture of the endpoint has its `eventId`. GitHub is asked to send each missing one again; from Stripe each is captured as fetched: marked `reconciled`, `unverifiable`, and actions run as for any capture. The run continues in the background, one at a time per endpoint. Give `types` if the sender does not send all types to this endpoint, as its list has all types.',
    input: startInput,
    example: {
      credentials: { apiKey: 'rk_test_example' },
      since: '2026-11-18T09:00:00Z',
      types: ['invoice.paid'],
      dryRun: true,
    },
    output: Reconciliation,
    status: 202,
    finds: findsEndpoint,
    check: checkStart,
  }).mutation(({ ctx, input }) => startReconciliation(ctx, ctx.endpoint, input)),

  list: get('/api/v1/endpoints/{endpointId}/reconcile', {
    summary: 'List reconciliations of an endpoint, newest first',
    description: 'The newest 50 that have ended, and all that still run.',
    input: listInput,
    output: envelope(Reconciliation),
    finds: findsEndpoint,
  }).query(async ({ ctx, input }) => {
    const found = await pageByTime(runsOf(ctx.db, ctx.endpoint.id), ['createdAt', 'id'], input)
    return paged(found, input, { view: runView, cursorOf: createdCursor('reconciliations') })
  }),

  get: get('/api/v1/endpoints/{endpointId}/reconcile/{reconciliationId}', {
    summary: 'Read a reconciliation, also while it runs',
    input: getInput,
    output: Reconciliation,
    finds: async (ctx, ids) => {
      const { endpoint } = await findsEndpoint(ctx, ids)
      const find = (id: string) => runsOf(ctx.db, endpoint.id).where('id', '=', id).executeTakeFirst()
      return { endpoint, run: await foundById(ids.reconciliationId, 'reconciliation', find) }
    },
  }).query(({ ctx }) => runView(ctx.run)),

  gaps: get('/api/v1/endpoints/{endpointId}/gaps', {
    summary: "List gaps in the sequence of the sender's event ids",
    description:
      'For providers whose ids are documented to be a sequence (`sequence` in `GET /api/v1/providers`). By the newest 10,000 stored captures.',
    input: gapsInput,
    output: Gaps,
    finds: findsEndpoint,
  }).query(({ ctx, input }) => readGaps(ctx, ctx.endpoint, input.since)),
})
