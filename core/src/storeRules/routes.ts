import type { z } from 'zod'
import type { Context } from '../api/context.ts'
import { post, router } from '../api/route.ts'
import { storedFormInSteps } from '../capture/index.ts'
import {
  asSpelled,
  checkStoring,
  type EndpointRow,
  findsEndpoint,
  preparedStoring,
  type StoringInput,
  storedSettings,
  storedStoring,
} from '../endpoints/index.ts'
import { type EvaluatedRequest, joinedHeaders, textOf } from '../engine/message/index.ts'
import { hashWith } from '../engine/storing/index.ts'
import { eventIdOf, eventIdPathOf, labelOf, prepareVerification } from '../engine/verification/index.ts'
import { inSlices } from '../platform/turns/index.ts'
import { countLong, previewing } from '../requests/index.ts'
import { issuesOfSource, previewRequest } from '../transformations/index.ts'
import { findHashKey } from '../workspaces/index.ts'
import { previewInput, StoringPreview } from './schema.ts'
import { storingWarnings } from './warnings.ts'

/** Preview of what an endpoint takes out of its captures; in the API it is among the routes of `endpoints`. */
export const storeRuleRoutes = router({
  previewStoring: post('/api/v1/endpoints/{endpointId}/store-rules/preview', {
    summary: 'Try what would be stored of a sample or a stored request',
    description:
      'Nothing is saved; a rule that faults is a 200. `warnings` names what reads a value that is taken out.',
    input: previewInput,
    scope: 'read',
    example: {
      storeRules: [{ op: 'redact', paths: ['body.email'] }],
      sample: { body: { email: 'ada@example.com' } },
    },
    output: StoringPreview,
    errors: ['shredded'],
    finds: findsEndpoint,
    check: ({ rawBody }, input) => [
      ...checkStoring(asSpelled(rawBody, input)),
      ...issuesOfSource(input, true),
    ],
  }).mutation(({ ctx, input }) => previewStoring(ctx, ctx.endpoint, asSpelled(ctx.rawBody, input))),
})

/**
 * Shows what would be stored of a request. Nothing is saved.
 *
 * @throws DomainError `not_found` for a request that is not stored; LineTooLong when earlier previews take too long
 */
async function previewStoring(
  ctx: Context,
  endpoint: EndpointRow,
  input: z.output<typeof previewInput>,
): Promise<z.input<typeof StoringPreview>> {
  const stored = storedStoring(endpoint)
  const tried: StoringInput = {
    storeRules: input.storeRules ?? stored.storeRules,
    dropHeaders: input.dropHeaders ?? stored.dropHeaders,
  }
  const warnings = await storingWarnings(ctx.db, endpoint, tried)
  // Without a key, a key of the preview: the digests then differ from those of captures.
  const key = await findHashKey(ctx.db, { workspaceId: ctx.workspace.id, secrets: ctx.secrets })
  const settings = {
    storing: preparedStoring(tried, hashWith(key ?? Buffer.from(ctx.workspace.id))),
    verification: prepareVerification(storedSettings(endpoint, ctx.secrets)),
    eventIdPath: eventIdPathOf(endpoint.eventIdPath),
  }
  return await previewing(ctx, 'storing', async () => {
    const { request } = await previewRequest(ctx, { ...input, takesTraces: true }, endpoint, null)
    countLong(ctx, request.body.length)
    const { provider } = settings.verification
    const evaluated: EvaluatedRequest = {
      ...request,
      label: labelOf(provider, request),
      eventId: eventIdOf(settings.eventIdPath, provider, request),
    }
    const form = await inSlices(storedFormInSteps(settings, evaluated))
    const redaction = form?.redaction ?? null
    return {
      redacted: redaction !== null,
      redactedPaths: [...(redaction?.paths ?? [])],
      redactionFault: redaction?.fault ?? null,
      warnings,
      stored: shown(form?.request ?? evaluated),
    }
  })
}

function shown(request: EvaluatedRequest): z.input<typeof StoringPreview>['stored'] {
  const { method, path, queryString, headers, contentType, body, ip, label, eventId } = request
  const text = textOf(body)
  return {
    method,
    path,
    queryString,
    headers: joinedHeaders(headers),
    contentType,
    body: body.length === 0 ? null : (text ?? Buffer.from(body).toString('base64')),
    bodyIsBinary: body.length > 0 && text === undefined,
    ip,
    label,
    eventId,
  }
}
