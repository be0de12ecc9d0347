import { z } from 'zod'
import { withExample } from '../api/examples.ts'
import { post, router } from '../api/route.ts'
import { endpointId, Int64 } from '../api/values.ts'
import { findsRequest } from '../requests/index.ts'
import { ANSWER_BYTES_MAX, confirmHandshake } from './confirm.ts'

const HandshakeConfirmation = withExample(
  'HandshakeConfirmation',
  z.object({
    url: z.string().describe('The callback that was called'),
    outcome: z
      .string()
      .describe('`response`, or why there is none: `dns`, `connect`, `tls`, `blocked_address`, `timeout`, …'),
    statusCode: z.int().nullable(),
    body: z
      .string()
      .nullable()
      .describe(`The first ${ANSWER_BYTES_MAX} bytes of the answer; null when it is empty or no text`),
    detail: z.string().nullable().describe('Why there is no response'),
    durationMs: z.int(),
  }),
)

/** Confirm handshakes of senders; the API lists them among the routes of `requests`. */
export const handshakeRoutes = router({
  confirm: post('/api/v1/endpoints/{endpointId}/requests/{requestId}/confirm', {
    summary: 'Confirm the handshake of a sender of CloudEvents by the callback that it gave',
    description:
      'For a captured `OPTIONS` with `WebHook-Request-Origin` and `WebHook-Request-Callback`: the URL is called once with GET, as the webhook binding of CloudEvents has it. Private addresses are refused unless the operator allows them. A call that fails is an outcome, not an error. Endpoints with the provider `cloudevents` answer handshakes themselves; the callback is for senders that want it.',
    input: z.object({
      endpointId,
      requestId: Int64.describe('Id of the captured request'),
    }),
    output: HandshakeConfirmation,
    errors: ['validation_failed'],
    finds: findsRequest,
  }).mutation(({ ctx }) => confirmHandshake(ctx, ctx.endpoint, ctx.request)),
})
