import { z } from 'zod'
import { post, router } from '../api/route.ts'
import { endpointId, Int64 } from '../api/values.ts'
import { createInput, findsEndpoint, requestUrlOf, storedSettings } from '../endpoints/index.ts'
import {
  changedSettings,
  checkSettings,
  evaluate,
  prepareVerification,
} from '../engine/verification/index.ts'
import { VERDICTS } from '../engine/words/index.ts'
import { findContent } from './find.ts'
import { previewing } from './previewing.ts'
import { storedRequest } from './storedRequest.ts'

const { handshakeToken, provider, signatureAlgorithm, signatureEncoding, signatureHeader } = createInput.shape
const { signaturePrefix, signingSecret } = createInput.shape

/** Try verification settings on captures; nothing is saved. */
export const verificationRoutes = router({
  try: post('/api/v1/endpoints/{endpointId}/verification/preview', {
    summary: 'Test other verification settings on a captured request',
    description:
      'The members are those of the endpoint; omitted ones have their saved values. Nothing is saved, and the verdict of the request stays. The time of the check is that of the capture.',
    input: z.object({
      endpointId,
      requestId: Int64.describe('Id of the captured request that is tried'),
      provider,
      signingSecret,
      handshakeToken,
      signatureHeader,
      signatureAlgorithm,
      signatureEncoding,
      signaturePrefix,
    }),
    example: { requestId: 90117, provider: 'stripe', signingSecret: 'whsec_x1' },
    output: z
      .object({
        verification: z
          .object({ verdict: z.enum(VERDICTS), note: z.string() })
          .nullable()
          .describe('Null: these settings check no signature'),
      })
      .meta({ id: 'VerificationPreview' }),
    scope: 'read',
    errors: ['not_found', 'shredded'],
    finds: findsEndpoint,
    check: (ctx, members) => checkSettings(storedSettings(ctx.endpoint, ctx.secrets), members),
  }).mutation(({ ctx, input: { endpointId: _endpoint, requestId, ...members } }) =>
    previewing(ctx, `verification ${ctx.endpoint.id}`, async () => {
      const row = await findContent(ctx, ctx.endpoint.id, requestId)
      const settings = changedSettings(storedSettings(ctx.endpoint, ctx.secrets), members)
      const request = storedRequest(row)
      const prepared = prepareVerification(settings)
      const under = (captureId: string) =>
        evaluate(prepared, request, requestUrlOf(ctx.urls, captureId, request))
      const { captureId, previousCaptureId } = ctx.endpoint
      const verification = under(captureId)
      if (previousCaptureId === null || verification?.verdict === 'verified') return { verification }
      // Some providers sign the URL, and the request may have arrived at the previous one.
      const previous = under(previousCaptureId)
      return { verification: previous?.verdict === 'verified' ? previous : verification }
    }),
  ),
})
