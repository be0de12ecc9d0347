import { z } from 'zod'
import { get, post, router } from '../api/route.ts'
import { endpointId } from '../api/values.ts'
import { findsEndpoint } from '../endpoints/index.ts'
import { providerName, SAMPLES } from './catalog.ts'
import { ProviderSamples, SentSample, sendInput } from './schema.ts'
import { checkOrder, sendSample } from './send.ts'

const items = SAMPLES.map(({ provider, events }) => ({
  provider,
  name: providerName(provider),
  events: events.map(({ event, summary }) => ({ event, summary })),
}))

/** List sample events and send one to an endpoint. */
export const sampleRoutes = router({
  list: get('/api/v1/samples', {
    summary: 'List the sample events that can be sent, by provider',
    tool: {
      name: 'list_samples',
      title: 'List sample events',
      description: 'The providers and events that send_sample can send.',
      effect: 'reads',
    },
    input: z.object({}),
    narrows: true,
    output: z.object({ items: z.array(ProviderSamples) }),
    cacheControl: 'public, max-age=3600',
  }).query(() => ({ items })),

  send: post('/api/v1/endpoints/{endpointId}/samples', {
    summary: 'Send a sample event to an endpoint, signed with its own secret',
    tool: {
      name: 'send_sample',
      title: 'Send a sample event',
      description:
        "Generates an event of a provider, signs it with the endpoint's secret and captures it. It is forwarded like any other capture.",
      effect: 'sends',
      members: ['endpointId', 'provider', 'event', 'set', 'badSignature'],
    },
    description:
      'The sample is captured like any request: verified, counted against the capture rate, forwarded. Bodies are generated, with new ids each time.',
    input: z.object({ endpointId, ...sendInput }),
    example: { provider: 'stripe', event: 'invoice.paid', set: { 'body.data.object.amount_paid': 500 } },
    output: SentSample,
    status: 201,
    finds: findsEndpoint,
    check: (_ctx, { provider, event, set }) =>
      checkOrder({
        ...(provider === undefined ? {} : { provider }),
        ...(set === undefined ? {} : { set }),
        event,
      }),
  }).mutation(({ ctx, input }) =>
    sendSample(ctx, ctx.endpoint, {
      provider: input.provider,
      event: input.event,
      set: input.set ?? {},
      badSignature: input.badSignature === true,
    }),
  ),
})
