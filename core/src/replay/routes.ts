import { z } from 'zod'
import type { Context } from '../api/context.ts'
import { requireFeature } from '../api/planGates.ts'
import { post, router } from '../api/route.ts'
import { endpointId, Int64, optional } from '../api/values.ts'
import { DeliveryAttemptDetail } from '../deliveries/index.ts'
import { findsEndpoint } from '../endpoints/index.ts'
import { askListeners, countListeners } from '../listeners/index.ts'
import { findsRequest, issuesOfRequestIds, requestIdsInput, requestIdsOf } from '../requests/index.ts'
import { bulkReplay } from './bulkReplay.ts'
import { editedInput, issuesOfEdits } from './editedRequest.ts'
import { replayRequest } from './replayRequest.ts'
import { BulkReplayResult, ReplayResult, replayView } from './schema.ts'
import { sendEdited } from './sendEdited.ts'

const requestId = Int64.describe('Id of the captured request')

/** Replays of captured requests; the API lists them among the routes of `requests`. */
export const replayRoutes = router({
  replay: post('/api/v1/endpoints/{endpointId}/requests/{requestId}/replay', {
    summary: 'Replay a captured request now, once, and answer with the outcome',
    tool: {
      name: 'replay_request',
      title: 'Replay a request',
      description:
        'Sends a captured request to the destinations of its endpoint again, now, and answers with the outcome.',
      effect: 'sends',
      members: ['endpointId', 'requestId', 'actionId'],
    },
    description:
      'With `to=listeners` it goes to every connected listener (`creel listen`), which reports what its server answered as a delivery attempt of kind `listen`. Without `actionId` it goes through every switched-on action whose condition matches; with it, only through that action, whatever its condition. A send that fails is an outcome, not an error.',
    input: z.object({
      endpointId,
      requestId,
      actionId: optional(z.guid().toLowerCase()).describe('Only through this action'),
      to: optional(z.enum(['actions', 'listeners'])).describe('Default `actions`'),
    }),
    query: ['actionId', 'to'],
    output: ReplayResult,
    errors: ['forwarding_disabled', 'action_inactive', 'original_gone', 'shredded'],
    finds: findsRequest,
  }).mutation(async ({ ctx, input }) =>
    input.to === 'listeners'
      ? await replayToListeners(ctx, ctx.endpoint.id, ctx.request.id)
      : replayView(await replayRequest(ctx, ctx.endpoint, ctx.request, input.actionId), ctx.request.id),
  ),

  send: post('/api/v1/endpoints/{endpointId}/requests/{requestId}/send', {
    summary: 'Send a captured request with changes now, once, and answer with the attempt',
    description:
      'Through one forward action, whatever its condition. The capture stays as it is; the attempt, with the trigger `edited`, records the request that was sent. A send that fails is an outcome, not an error.',
    input: z.object({
      endpointId,
      requestId,
      actionId: z.guid().toLowerCase().describe('Through this forward action'),
      ...editedInput,
      sign: z
        .boolean()
        .default(true)
        .describe('Whether the secret of the action signs it, with a fresh timestamp'),
      transform: z
        .boolean()
        .default(true)
        .describe('Whether the rules of the action shape it before it is sent'),
    }),
    example: {
      actionId: '1d7f2f3e-8c2b-4d51-9a35-0f8d1c5b6e77',
      headers: [{ name: 'Content-Type', value: 'application/json' }],
      body: '{"type":"invoice.paid","amount":990}',
    },
    output: DeliveryAttemptDetail,
    errors: ['action_inactive', 'shredded'],
    finds: findsRequest,
    check: (_ctx, input) => issuesOfEdits(input),
  }).mutation(({ ctx, input: { actionId, sign, transform, ...edits } }) =>
    sendEdited(ctx, ctx.endpoint, ctx.request, { actionId, edits, edited: { sign, transform } }),
  ),

  bulkReplay: post('/api/v1/endpoints/{endpointId}/requests/bulk-replay', {
    summary: 'Queue replays of up to 500 captured requests, with the full retry schedule',
    description:
      'Ids that are absent, in the recycle bin, oversize, shredded, without the original that is forwarded, matched by no action, or without a dead letter with `deadLettersOnly` are skipped.',
    input: z.object({
      endpointId,
      ...requestIdsInput,
      actionId: optional(z.guid().toLowerCase()).describe('Only through this action'),
      deadLettersOnly: optional(z.boolean()).describe(
        'Only through the actions whose newest attempt of the request is a dead letter',
      ),
    }),
    example: { requestIds: [90117, 90118] },
    output: BulkReplayResult,
    status: 202,
    errors: ['feature_not_in_plan', 'forwarding_disabled', 'action_inactive'],
    finds: findsEndpoint,
    gate: (ctx) => requireFeature(ctx.plan, 'bulkReplay'),
    check: (_ctx, input) => issuesOfRequestIds(input),
  }).mutation(({ ctx, input }) => bulkReplay(ctx, ctx.endpoint.id, requestIdsOf(input), input)),
})

/**
 * Asks every connected listener of an endpoint to send a request again. The listeners report the results.
 *
 * @returns the answer of a replay: `Skipped`, without asking, if no listener is connected
 */
async function replayToListeners(ctx: Context, endpointId: string, requestId: number) {
  const listenerCount = await countListeners(ctx, endpointId)
  if (listenerCount > 0) await askListeners(ctx, endpointId, requestId)
  const state = listenerCount > 0 ? ('Pending' as const) : ('Skipped' as const)
  return { requestId, state, attemptId: null, statusCode: null, error: null, outcomes: [], listenerCount }
}
