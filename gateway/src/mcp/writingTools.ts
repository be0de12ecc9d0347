import { z } from 'zod'
import { endpointId, endpointPath, requestId } from './inputs.ts'
import { type Tool, tool } from './tool.ts'

/** Tools that add something, or send something to other systems. A server that only reads has none of them. */
export const WRITING_TOOLS: readonly Tool[] = [
  tool({
    name: 'create_endpoint',
    title: 'Create a capture endpoint',
    description:
      'Makes a capture endpoint and answers with its URL; with ttlSeconds one that is deleted by itself.',
    effect: 'adds',
    input: z.object({
      name: z.string().optional(),
      ttlSeconds: z.int().min(60).max(86_400).optional(),
      provider: z.string().optional().describe('Slug of the sender, such as stripe or github'),
    }),
    run: (api, body) => api.call('POST', '/api/v1/endpoints', { body }),
  }),
  tool({
    name: 'save_rule',
    title: 'Save a transformation rule',
    description: 'Adds a rule to an endpoint; it shapes what is forwarded from now on. Preview it first.',
    effect: 'adds',
    input: z.object({ endpointId, rule: z.record(z.string(), z.unknown()) }),
    run: (api, { endpointId: id, rule }) =>
      api.call('POST', endpointPath(id, '/transformations'), { body: rule }),
  }),
  tool({
    name: 'arm_watchdog',
    title: 'Arm a watchdog',
    description: 'Alarms when no webhook arrives within the interval and its grace.',
    effect: 'adds',
    input: z.object({
      endpointId,
      name: z.string().optional(),
      expectedIntervalSeconds: z.int().min(1),
      graceSeconds: z.int().min(0).optional(),
    }),
    run: (api, body) => api.call('POST', '/api/v1/watchdogs', { body }),
  }),
  tool({
    name: 'replay_request',
    title: 'Replay a request',
    description:
      'Sends a captured request to the destinations of its endpoint again, now, and answers with what became of it.',
    effect: 'sends',
    input: z.object({
      endpointId,
      requestId,
      actionId: z.string().optional().describe('Only through this action'),
    }),
    run: (api, { endpointId: id, requestId: one, actionId }) =>
      api.call('POST', endpointPath(id, `/requests/${one}/replay`), { query: { actionId } }),
  }),
  tool({
    name: 'send_sample',
    title: 'Send a sample event',
    description:
      "Has the service make up an event of a provider, sign it with the endpoint's own secret and capture it. It is forwarded like any other capture.",
    effect: 'sends',
    input: z.object({
      endpointId,
      provider: z.string().describe('Slug, as list_samples tells it'),
      event: z.string().optional().describe("Event type; default the provider's first"),
      set: z
        .record(z.string(), z.unknown())
        .optional()
        .describe('Values by path into the body, such as {"body.data.amount": 5}'),
      badSignature: z.boolean().optional().describe('Sign with a wrong secret'),
    }),
    run: (api, { endpointId: id, ...body }) => api.call('POST', endpointPath(id, '/samples'), { body }),
  }),
]
