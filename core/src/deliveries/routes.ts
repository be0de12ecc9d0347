import { z } from 'zod'
import type { Finds } from '../api/contract.ts'
import { idCursor } from '../api/cursors.ts'
import { notFound } from '../api/errors.ts'
import { envelope, paged } from '../api/pagination.ts'
import { get, post, router } from '../api/route.ts'
import { endpointId, Int64, parseInt64 } from '../api/values.ts'
import { type EndpointRow, findsEndpoint } from '../endpoints/index.ts'
import { skipHeld } from './flow/skip.ts'
import { type AttemptRow, findAttempt, findAttempts, listAttempts } from './read.ts'
import { retryNow } from './retryNow.ts'
import { DeliveryAttempt, DeliveryAttemptDetail, listInput } from './schema.ts'
import { attemptView, attemptWithRecord } from './view.ts'

const attemptId = Int64.describe('Id of the attempt')

/**
 * Finds the endpoint and the attempt that the path names.
 * @throws DomainError `not_found`, also while the attempt's request is in the recycle bin
 */
const findsAttempt: Finds<{ endpoint: EndpointRow; attempt: AttemptRow }> = async (ctx, ids) => {
  const { endpoint } = await findsEndpoint(ctx, ids)
  const id = parseInt64(ids.attemptId)
  const attempt = id === null ? undefined : await findAttempt(ctx.db, endpoint.id, id)
  if (attempt === undefined) throw notFound('delivery attempt')
  return { endpoint, attempt }
}

/** {@link findsAttempt}, also while the attempt's request is in the recycle bin: there it still holds its key. */
const findsAnyAttempt: typeof findsAttempt = async (ctx, ids) => {
  const { endpoint } = await findsEndpoint(ctx, ids)
  const id = parseInt64(ids.attemptId)
  const [attempt] = id === null ? [] : await findAttempts(ctx.db, endpoint.id, [id])
  if (attempt === undefined) throw notFound('delivery attempt')
  return { endpoint, attempt }
}

export const deliveryRoutes = router({
  list: get('/api/v1/endpoints/{endpointId}/deliveries', {
    summary: 'List delivery attempts, newest first, across requests, retries and replays',
    tool: {
      name: 'read_deliveries',
      title: 'List delivery attempts',
      description: 'Attempts at forwarding captured webhooks, newest first, with state, status and error.',
      effect: 'reads',
      members: ['endpointId', 'requestId', 'state', 'page'],
      defaults: { pageSize: 20 },
    },
    input: z.object({ endpointId, ...listInput }),
    output: envelope(DeliveryAttempt),
    finds: findsEndpoint,
  }).query(async ({ ctx, input }) => {
    const found = await ctx.reads.run(({ db }) => listAttempts(db, ctx.endpoint.id, input, input))
    return paged(found, input, { view: attemptView, cursorOf: ({ id }) => idCursor('deliveries', id) })
  }),

  retryNow: post('/api/v1/endpoints/{endpointId}/deliveries/{attemptId}/retry', {
    summary: 'Retry a delivery now',
    description:
      'Takes the place of the next scheduled attempt. Refused if no attempt is scheduled: replay the request instead.',
    input: z.object({ endpointId, attemptId }),
    output: z
      .object({
        requestId: Int64,
        actionId: z.uuid(),
        attemptNumber: z.int().describe('Number of this attempt'),
      })
      .meta({ id: 'RetryNow' }),
    status: 202,
    errors: ['validation_failed', 'action_inactive'],
    finds: findsAttempt,
  }).mutation(({ ctx }) => retryNow(ctx, ctx.endpoint.id, ctx.attempt.id)),

  skip: post('/api/v1/endpoints/{endpointId}/deliveries/{attemptId}/skip', {
    summary: 'Skip a dead letter that holds the deliveries of its key',
    description:
      'For ordered actions with `onDeadLetter: hold`. The delivery stays a dead letter. A successful replay frees the key as well.',
    input: z.object({ endpointId, attemptId }),
    output: z
      .object({ requestId: Int64, actionId: z.uuid(), key: z.string() })
      .meta({ id: 'SkippedDelivery' }),
    errors: ['validation_failed'],
    finds: findsAnyAttempt,
  }).mutation(({ ctx }) => skipHeld(ctx, ctx.endpoint.id, ctx.attempt.id)),

  get: get('/api/v1/endpoints/{endpointId}/deliveries/{attemptId}', {
    summary: 'Read a delivery attempt with its exact request and response',
    description:
      'The record is kept as long as the attempt, also when its request is evicted to make room for newer ones. It is deleted with a request that is deleted, or removed by retention or a limit in bytes; then `sent` and `received` are null.',
    input: z.object({ endpointId, attemptId }),
    output: DeliveryAttemptDetail,
    finds: findsAttempt,
  }).query(({ ctx }) => attemptWithRecord(ctx.db, ctx.endpoint.id, ctx.attempt)),
})
