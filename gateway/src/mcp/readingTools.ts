import { z } from 'zod'
import { endpointId, endpointPath, filters, requestId } from './inputs.ts'
import { type Tool, tool } from './tool.ts'

/** Bytes of a body that are told at once unless the model asks for another number. */
const BODY_BYTES = { default: 8192, max: 65_536 } as const

const Captured = z.looseObject({
  body: z.string().nullable(),
  bodyIsBinary: z.boolean(),
  verification: z.object({ verdict: z.string(), note: z.string() }).nullable(),
})

/** One part of a body, and where the next begins. Cut at bytes, so that a part may begin within a character. */
function bodyPart(text: string | null, isBinary: boolean, offset: number, maxBytes: number) {
  const bytes = Buffer.from(text ?? '', isBinary ? 'base64' : 'utf8')
  const part = bytes.subarray(offset, offset + maxBytes)
  const end = offset + part.length
  return {
    body: part.toString(isBinary ? 'base64' : 'utf8'),
    bodyBytes: bytes.length,
    bodyOffset: offset,
    nextBodyOffset: end < bytes.length ? end : null,
  }
}

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
    description: 'Captured webhooks of an endpoint, newest first, without their bodies.',
    effect: 'reads',
    input: z.object({
      endpointId,
      ...filters,
      page: z.int().min(1).optional(),
      limit: z.int().min(1).max(100).optional().describe('Requests a page; default 20'),
    }),
    run: (api, { endpointId: id, limit = 20, ...query }) =>
      api.call('GET', endpointPath(id, '/requests'), { query: { ...query, pageSize: limit } }),
  }),
  tool({
    name: 'read_request',
    title: 'Read a captured request',
    description:
      'One captured webhook: headers, body and deliveries. A long body comes in parts: ask again with nextBodyOffset.',
    effect: 'reads',
    input: z.object({
      endpointId,
      requestId,
      bodyOffset: z.int().min(0).optional().describe('Where the part begins, in bytes; default 0'),
      maxBodyBytes: z.int().min(1).max(BODY_BYTES.max).optional(),
    }),
    run: async (api, { endpointId: id, requestId: one, bodyOffset = 0, maxBodyBytes }, masking) => {
      // Masked before it is cut: the cut may part a name from its secret.
      const found = masking(await api.call('GET', endpointPath(id, `/requests/${one}`)))
      const request = Captured.parse(found)
      const part = bodyPart(
        request.body,
        request.bodyIsBinary,
        bodyOffset,
        maxBodyBytes ?? BODY_BYTES.default,
      )
      const { headers: _joined, bodyPreview: _preview, ...rest } = request
      return bodyOffset === 0 ? { ...rest, ...part } : part
    },
  }),
  tool({
    name: 'await_request',
    title: 'Wait for a request',
    description:
      'Waits until a matching webhook arrives; one that is stored already counts unless afterId says otherwise.',
    effect: 'reads',
    input: z.object({
      endpointId,
      ...filters,
      timeoutSeconds: z.int().min(1).max(60).optional().describe('Default 30'),
    }),
    run: async (api, { endpointId: id, ...query }) =>
      (await api.call('GET', endpointPath(id, '/requests/await'), { query })) ?? {
        arrived: false,
        note: 'Nothing matched in time.',
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
      const request = Captured.parse(await api.call('GET', endpointPath(id, `/requests/${one}`)))
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
      state: z.enum(['Succeeded', 'Failed', 'Errored', 'DeadLetter', 'Pending', 'Interrupted']).optional(),
      page: z.int().min(1).optional(),
    }),
    run: (api, { endpointId: id, ...query }) =>
      api.call('GET', endpointPath(id, '/deliveries'), { query: { ...query, pageSize: 20 } }),
  }),
  tool({
    name: 'read_delivery',
    title: 'Read a delivery attempt',
    description: 'One attempt with what was sent and what was received.',
    effect: 'reads',
    input: z.object({ endpointId, attemptId: z.int() }),
    run: (api, { endpointId: id, attemptId }) =>
      api.call('GET', endpointPath(id, `/deliveries/${attemptId}`)),
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
