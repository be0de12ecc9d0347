import { z } from 'zod'
import { route, router } from '../api/route.ts'
import { createInput, Endpoint, findsEndpoint, rotateUrlInput, updateInput } from '../endpoints/index.ts'
import { resetResponses } from './answers.ts'
import { checkNewEndpoint, createEndpoint } from './create.ts'
import { removeEndpoint } from './remove.ts'
import { rotateCaptureUrl } from './rotateUrl.ts'
import { changeEndpoint, checkEndpointChange } from './update.ts'

const endpointId = z.string().meta({ format: 'uuid', description: 'Id of the endpoint' })

/**
 * Routes that write endpoints; in the API they are among the other routes of `endpoints`. They are a separate noun,
 * because the deprecated forward members write actions, and actions import endpoints.
 */
export const endpointEditingRoutes = router({
  create: route({
    method: 'POST',
    path: '/api/v1/endpoints',
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
    },
    output: Endpoint,
    status: 201,
    errors: ['limit_reached', 'feature_not_in_plan'],
    check: checkNewEndpoint,
  }).mutation(({ ctx, input }) => createEndpoint(ctx, input)),

  update: route({
    method: 'PATCH',
    path: '/api/v1/endpoints/{endpointId}',
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
    example: { name: 'stripe', responseHeaders: { 'X-Handled-By': 'creel' } },
    output: Endpoint,
    errors: ['concurrent_change', 'limit_reached', 'feature_not_in_plan'],
    finds: findsEndpoint,
    check: (ctx, input) => checkEndpointChange(ctx, ctx.endpoint, input),
  }).mutation(({ ctx, input }) => changeEndpoint(ctx, ctx.endpoint, input)),

  rotateUrl: route({
    method: 'POST',
    path: '/api/v1/endpoints/{endpointId}/rotate-url',
    summary: 'Create a new capture URL; the old one keeps working for a while',
    description:
      'Id, settings and stored requests stay. After `previousUrlUntil` the old URL answers 404. Only the latest old URL keeps working: another rotation ends an older one at once.',
    input: rotateUrlInput,
    example: { overlapSeconds: 3600 },
    output: Endpoint,
    finds: findsEndpoint,
  }).mutation(({ ctx, input }) => rotateCaptureUrl(ctx, ctx.endpoint.id, input.overlapSeconds)),

  resetResponses: route({
    method: 'POST',
    path: '/api/v1/endpoints/{endpointId}/responses/reset',
    summary: 'Reset the counts of the scripted responses',
    description: 'Each response with `times` answers that often again.',
    input: z.object({ endpointId }),
    output: Endpoint,
    finds: findsEndpoint,
  }).mutation(({ ctx }) => resetResponses(ctx, ctx.endpoint.id)),

  remove: route({
    method: 'DELETE',
    path: '/api/v1/endpoints/{endpointId}',
    summary: 'Delete an endpoint with all its stored requests; irreversible',
    input: z.object({ endpointId }),
    output: z.null(),
    finds: findsEndpoint,
  }).mutation(async ({ ctx }) => {
    await removeEndpoint(ctx, ctx.endpoint)
    return null
  }),
})
