import { z } from 'zod'
import { notFound, validationFailed } from '../api/errors.ts'
import { post, router } from '../api/route.ts'
import { requireStays } from '../api/seal.ts'
import { endpointId, InstantInput, Int64, optional } from '../api/values.ts'
import { attemptView, DeliveryAttempt, findAttempts, recordListen } from '../deliveries/index.ts'
import { isBase64, NOT_BASE64, wireField } from '../engine/message/index.ts'
import { markReported } from '../listeners/index.ts'
import { HOUR_MS } from '../platform/time/index.ts'
import { findsRequest } from '../requests/index.ts'
import { HEADERS_MAX, METHOD_MAX } from './editedRequest.ts'

const requestId = Int64.describe('Id of the captured request')

const headers = z
  .array(z.object({ name: z.string().min(1).max(256), value: z.string().max(65_536) }))
  .max(HEADERS_MAX)
  .describe('In wire order; values as text')

const report = {
  listener: z.string().min(1).max(64).describe('Name of the listener'),
  replayId: optional(Int64).describe('Id of the replay'),
  url: z
    .string()
    .min(1)
    .max(8192)
    .refine(URL.canParse, { params: { code: 'bad_url' }, message: 'The value must be a URL.' })
    .describe('URL of the local server'),
  at: InstantInput.describe('When it was sent'),
  durationMs: z.int().min(0).max(86_400_000),
  error: optional(z.string().min(1).max(500)).describe('Why there was no answer'),
  sent: z.object({ method: z.string().min(1).max(METHOD_MAX), headers }),
  received: optional(
    z
      .object({
        statusCode: z.int().min(100).max(599),
        headers,
        body: z.string().max(700_000).nullable().describe('Text, or base64 when `bodyIsBinary`'),
        bodyIsBinary: z.boolean(),
        bodyTruncated: z.boolean(),
      })
      .refine(({ body, bodyIsBinary }) => !bodyIsBinary || isBase64(body ?? ''), {
        path: ['body'],
        params: { code: 'bad_format' },
        message: NOT_BASE64,
      }),
  ).describe('Answer of the local server; absent if there was none'),
}

/** Tolerance for times in the future, because the clock of a listener's machine may be wrong by hours. */
const FUTURE_MS_MAX = 24 * HOUR_MS

/** Reports of listeners about replayed requests. */
export const listenReportRoutes = router({
  report: post('/api/v1/endpoints/{endpointId}/requests/{requestId}/listen-attempts', {
    summary: 'Report the answer of a local server to a replayed request',
    description: 'Recorded as a delivery attempt of kind `listen`; `creel listen` does so for every replay.',
    input: z.object({ endpointId, requestId, ...report }),
    example: {
      listener: 'ada-laptop http://localhost:3000',
      url: 'http://localhost:3000/hooks',
      at: '2026-11-22T10:00:00.000Z',
      durationMs: 12,
      sent: { method: 'POST', headers: [{ name: 'Content-Type', value: 'application/json' }] },
      received: { statusCode: 200, headers: [], body: 'ok', bodyIsBinary: false, bodyTruncated: false },
    },
    output: DeliveryAttempt,
    status: 201,
    errors: ['shredded'],
    finds: findsRequest,
  }).mutation(async ({ ctx, input }) => {
    const { received } = input
    if (input.at.getTime() > ctx.clock.now().getTime() + FUTURE_MS_MAX) {
      throw validationFailed([{ path: ['at'], code: 'out_of_range', detail: 'at is in the future.' }])
    }
    const exchange = {
      ...input,
      workspaceId: ctx.workspace.id,
      endpointId: ctx.endpoint.id,
      requestId: ctx.request.id,
      error: input.error ?? null,
      sent: { method: input.sent.method, headers: input.sent.headers.map(wireField) },
      received:
        received === undefined
          ? null
          : {
              ...received,
              headers: received.headers.map(wireField),
              body: Buffer.from(received.body ?? '', received.bodyIsBinary ? 'base64' : 'utf8'),
            },
    }
    const id = await ctx.db.transaction().execute(async (trx) => {
      const recorded = await recordListen(ctx, trx, exchange)
      if (input.replayId !== undefined) {
        await markReported(trx, ctx.endpoint.id, input.replayId, ctx.clock.now())
      }
      await requireStays(ctx, trx, ctx.workspace.id)
      return recorded
    })
    const [row] = await findAttempts(ctx.db, ctx.endpoint.id, [id])
    if (row === undefined) throw notFound('request')
    return attemptView(row)
  }),
})
