import { z } from 'zod'
import { closeIncidentsOfEndpoints } from '../alerts/index.ts'
import type { Context } from '../api/context.ts'
import { EXAMPLE_IDS } from '../api/examples.ts'
import { requireFeature } from '../api/planGates.ts'
import { patch, post, remove, router } from '../api/route.ts'
import { endpointId } from '../api/values.ts'
import { recordChange } from '../audit/index.ts'
import { newId } from '../cells/index.ts'
import {
  asSpelled,
  createInput,
  Endpoint,
  type EndpointRow,
  endpointView,
  findsEndpoint,
  markEndpointDeleted,
  rotateUrlInput,
  updateEndpoint,
  updateInput,
} from '../endpoints/index.ts'
import { applyPlanLimits } from '../planLimits/index.ts'
import { announceEndpointChange } from '../platform/changes/index.ts'
import { forgetAllOriginals } from '../requests/index.ts'
import { lockWorkspace } from '../workspaces/index.ts'
import { resetResponses } from './answers.ts'
import { endpointChange, endpointToChange, noteChange } from './change.ts'
import { checkNewEndpoint, createEndpoint } from './create.ts'
import { changeEndpoint, checkEndpointChange } from './update.ts'

/**
 * Routes that write endpoints; in the API they are among the other routes of `endpoints`. They are a separate noun,
 * because the deprecated forward members write actions, and actions import endpoints.
 */
export const endpointEditingRoutes = router({
  create: post('/api/v1/endpoints', {
    summary: 'Create an endpoint; with `ttlSeconds` an ephemeral one',
    tool: {
      name: 'create_endpoint',
      title: 'Create a capture endpoint',
      description:
        'Creates a capture endpoint and answers with its URL. With ttlSeconds, it is deleted after that time.',
      effect: 'adds',
      members: ['name', 'ttlSeconds', 'provider'],
    },
    input: createInput,
    example: {
      name: 'stripe-ci',
      ttlSeconds: 900,
      responseStatusCode: 202,
      responseBody: '{"received":true}',
      responses: [
        {
          when: { path: 'body.type', op: 'eq', value: 'url_verification' },
          headers: { 'Content-Type': 'text/plain' },
          body: '{{ body.challenge }}',
        },
        { status: 500, times: 2 },
        { status: 503, headers: { 'Retry-After': '5' }, delayMs: 2000, times: 1 },
      ],
    },
    output: Endpoint,
    status: 201,
    errors: ['limit_reached', 'feature_not_in_plan'],
    gate: ({ plan }) => requireFeature(plan, 'endpoints'),
    check: (ctx, input) => checkNewEndpoint(ctx, asSpelled(ctx.rawBody, input)),
  }).mutation(({ ctx, input }) => createEndpoint(ctx, asSpelled(ctx.rawBody, input))),

  update: patch('/api/v1/endpoints/{endpointId}', {
    summary: 'Change the named members of an endpoint',
    tool: {
      name: 'script_answers',
      title: 'Script the answers to senders',
      description:
        'Sets how an endpoint answers its senders: responses is an ordered list with when, status, body, delayMs and times; answerFrom relays the answer of an action. [] and null restore the plain answer.',
      effect: 'adds',
      members: ['endpointId', 'responses', 'answerFrom'],
    },
    input: updateInput,
    example: {
      name: 'stripe',
      responseHeaders: { 'X-Handled-By': 'creel' },
      responses: [],
      answerFrom: {
        actionId: EXAMPLE_IDS.action,
        timeoutMs: 2500,
        fallback: { status: 503, headers: { 'Retry-After': '5' }, body: '' },
      },
    },
    output: Endpoint,
    errors: ['concurrent_change', 'limit_reached', 'feature_not_in_plan'],
    finds: findsEndpoint,
    check: (ctx, input) => checkEndpointChange(ctx, ctx.endpoint, asSpelled(ctx.rawBody, input)),
  }).mutation(({ ctx, input }) => changeEndpoint(ctx, ctx.endpoint, asSpelled(ctx.rawBody, input))),

  rotateUrl: post('/api/v1/endpoints/{endpointId}/rotate-url', {
    summary: 'Create a new capture URL; the old one keeps working for a while',
    description:
      'Id, settings and stored requests stay. After `previousUrlUntil` the old URL answers 404. Only the latest old URL keeps working: another rotation ends an older one at once.',
    input: rotateUrlInput,
    example: { overlapSeconds: 3600 },
    output: Endpoint,
    finds: findsEndpoint,
  }).mutation(({ ctx, input }) => rotateCaptureUrl(ctx, ctx.endpoint.id, input.overlapSeconds)),

  resetResponses: post('/api/v1/endpoints/{endpointId}/responses/reset', {
    summary: 'Reset the counts of the scripted responses',
    tool: {
      name: 'reset_answers',
      title: 'Reset the counts of scripted answers',
      description: 'Lets each scripted response with times answer that often again.',
      effect: 'adds',
    },
    description: 'Each response with `times` answers that often again.',
    input: z.object({ endpointId }),
    output: Endpoint,
    finds: findsEndpoint,
  }).mutation(({ ctx }) => resetResponses(ctx, ctx.endpoint.id)),

  remove: remove('/api/v1/endpoints/{endpointId}', {
    summary: 'Delete an endpoint with all its stored requests; irreversible',
    input: z.object({ endpointId }),
    output: z.null(),
    finds: findsEndpoint,
  }).mutation(async ({ ctx }) => {
    await removeEndpoint(ctx, ctx.endpoint)
    return null
  }),
})

/**
 * Deletes an endpoint. It is gone at once for senders, readers and queued deliveries, whatever its size. Its incidents
 * are closed. Its rows are deleted in the background (retention/sweepEndpoints.ts), and its originals, too, if this call
 * is interrupted. Endpoints that were suspended by the plan may be in use again.
 */
async function removeEndpoint(ctx: Context, endpoint: EndpointRow): Promise<void> {
  const endpointId = endpoint.id
  await ctx.db.transaction().execute(async (trx) => {
    await lockWorkspace(trx, ctx.workspace.id)
    await endpointToChange(ctx, trx, endpointId)
    await markEndpointDeleted(trx, endpointId, ctx.clock.now())
    await applyPlanLimits(ctx, trx, ctx.workspace.id)
    await closeIncidentsOfEndpoints(ctx, trx, [endpointId])
    await announceEndpointChange(trx, endpointId)
    await recordChange(trx, ctx, endpointChange(ctx, 'endpoints.remove', endpointView(endpoint, ctx), null))
  })
  await forgetAllOriginals(ctx.db, endpointId)
}

/**
 * Gives an endpoint a new capture URL; its id, settings and requests stay. The old URL works for a while. It replaces
 * an older one that still works: at most one old URL works at a time.
 *
 * @param overlapSeconds time for which the old URL works; 0 for none
 * @throws DomainError `not_found` when the endpoint was deleted meanwhile
 */
async function rotateCaptureUrl(ctx: Context, endpointId: string, overlapSeconds: number) {
  return await ctx.db.transaction().execute(async (trx) => {
    // Concurrent rotations run one after the other, so that each replaces the URL that it found.
    await lockWorkspace(trx, ctx.workspace.id)
    const before = await endpointToChange(ctx, trx, endpointId)
    await updateEndpoint(trx, endpointId, {
      captureId: newId(ctx.cell),
      previousCaptureId: before.captureId,
      previousCaptureUntil: new Date(ctx.clock.now().getTime() + overlapSeconds * 1000),
    })
    return (await noteChange(ctx, trx, 'endpoints.rotateUrl', before)).view
  })
}
