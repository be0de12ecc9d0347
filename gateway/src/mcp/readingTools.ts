import { ATTEMPT_STATES } from '@creel/core/engine/words'
import { z } from 'zod'
import { partInput, readCapture, withBodyPart } from './bodyParts.ts'
import { endpointId, endpointPath, filters, requestId } from './inputs.ts'
import { type Tool, tool } from './tool.ts'

const Captured = z.looseObject({
  verification: z.object({ verdict: z.string(), note: z.string() }).nullable(),
})

const Attempt = z.looseObject({ sent: z.unknown(), received: z.unknown() })

/** Tools that change nothing. */
export const READING_TOOLS: readonly Tool[] = [
  tool({
    name: 'list_endpoints',
    title: 'List capture endpoints',
    description: 'The capture endpoints of the workspace, newest first, with their capture URLs.',
    effect: 'reads',
    input: z.object({ page: z.int().min(1).optional() }),
    run: (api, { page }) => api.call('GET', '/api/v1/endpoints', { query: { page } }),
  }),
  tool({
    name: 'search_requests',
    title: 'Search captured requests',
    description:
      'Captured webhooks of an endpoint, newest first, without their bodies. A long search ends with what it has found: while `next` is not null, ask again with it as `before`.',
    effect: 'reads',
    input: z.object({
      endpointId,
      ...filters,
      page: z.int().min(1).optional(),
      before: z.string().max(100).optional().describe('`next` of the page before'),
      limit: z.int().min(1).max(100).optional().describe('Requests a page; default 20'),
    }),
    run: (api, { endpointId: id, limit = 20, ...query }) =>
      api.call('GET', endpointPath(id, '/requests'), { query: { ...query, pageSize: limit } }),
  }),
  tool({
    name: 'list_samples',
    title: 'List sample events',
    description: 'The providers and events that send_sample can send.',
    effect: 'reads',
    input: z.object({}),
    run: (api) => api.call('GET', '/api/v1/samples'),
  }),
  tool({
    name: 'read_request',
    title: 'Read a captured request',
    description:
      'One captured webhook: headers, body and deliveries. A long body comes in parts: ask again with nextBodyOffset.',
    effect: 'reads',
    input: z.object({ endpointId, requestId, ...partInput }),
    isMasked: true,
    run: (api, { endpointId: id, requestId: one, ...wanted }, masking) =>
      readCapture(api, { endpointId: id, requestId: one }, wanted, masking),
  }),
  tool({
    name: 'await_request',
    title: 'Wait for a request',
    description:
      'Waits until a matching webhook arrives; one that is stored already counts unless afterId says otherwise. A long body is cut: read_request tells the rest.',
    effect: 'reads',
    input: z.object({
      endpointId,
      ...filters,
      timeoutSeconds: z.int().min(1).max(60).optional().describe('Default 30'),
    }),
    isMasked: true,
    run: async (api, { endpointId: id, ...query }, masking) => {
      const request = await api.call('GET', endpointPath(id, '/requests/await'), { query })
      if (request === null) return { arrived: false, note: 'Nothing matched in time.' }
      return await withBodyPart(request, {}, masking)
    },
  }),
  tool({
    name: 'explain_verdict',
    title: 'Explain a signature verdict',
    description:
      'Why a captured webhook is verified, failed, unsigned or unverifiable, and how its endpoint checks signatures.',
    effect: 'reads',
    input: z.object({ endpointId, requestId }),
    run: async (api, { endpointId: id, requestId: one }) => {
      const request = Captured.parse(
        await api.call('GET', endpointPath(id, `/requests/${one}`), { query: { bodyBytesMax: 0 } }),
      )
      const Checked = z.looseObject({ provider: z.string().nullable(), verification: z.unknown() })
      const { provider, verification: settings } = Checked.parse(await api.call('GET', endpointPath(id)))
      const Catalog = z.object({ items: z.array(z.looseObject({ slug: z.string() })) })
      const entry =
        provider === null
          ? null
          : Catalog.parse(await api.call('GET', '/api/v1/providers')).items.find(
              ({ slug }) => slug === provider,
            )
      return { verification: request.verification, settings, provider, providerEntry: entry ?? null }
    },
  }),
  tool({
    name: 'preview_rule',
    title: 'Preview a transformation rule',
    description:
      'What a transformation rule makes of a captured request; nothing is saved. The grammar is read with rule_schema.',
    effect: 'reads',
    input: z.object({
      endpointId,
      requestId,
      rule: z.record(z.string(), z.unknown()).describe('{version: 1, name, when?, steps: [{op, …}]}'),
    }),
    run: (api, { endpointId: id, requestId: one, rule }) =>
      api.call('POST', '/api/v1/transformations/preview', {
        body: { rule, endpointId: id, requestId: one },
      }),
  }),
  tool({
    name: 'rule_schema',
    title: 'Read the grammar of rules',
    description: 'The JSON Schema of transformation rules and their conditions.',
    effect: 'reads',
    input: z.object({}),
    run: (api) => api.call('GET', '/api/v1/transformations/schema'),
  }),
  tool({
    name: 'read_deliveries',
    title: 'List delivery attempts',
    description: 'Attempts at forwarding captured webhooks, newest first, with state, status and error.',
    effect: 'reads',
    input: z.object({
      endpointId,
      requestId: requestId.optional(),
      state: z.enum(ATTEMPT_STATES).optional(),
      page: z.int().min(1).optional(),
    }),
    run: (api, { endpointId: id, ...query }) =>
      api.call('GET', endpointPath(id, '/deliveries'), { query: { ...query, pageSize: 20 } }),
  }),
  tool({
    name: 'read_delivery',
    title: 'Read a delivery attempt',
    description:
      'One attempt with what was sent and what was received. Long bodies come in parts: ask again with nextBodyOffset.',
    effect: 'reads',
    input: z.object({ endpointId, attemptId: z.int(), ...partInput }),
    isMasked: true,
    run: async (api, { endpointId: id, attemptId, ...wanted }, masking) => {
      const { sent, received, ...attempt } = Attempt.parse(
        await api.call('GET', endpointPath(id, `/deliveries/${attemptId}`)),
      )
      const part = (message: unknown) => (message === null ? null : withBodyPart(message, wanted, masking))
      const shown = { sent: await part(sent), received: await part(received) }
      return { ...Object(await masking.value(attempt)), ...shown }
    },
  }),
  tool({
    name: 'suggest_watchdog',
    title: 'Suggest a watchdog',
    description: 'The interval and grace that the history of an endpoint supports.',
    effect: 'reads',
    input: z.object({ endpointId }),
    run: (api, { endpointId: id }) =>
      api.call('GET', '/api/v1/watchdogs/suggest', { query: { endpointId: id } }),
  }),
]
