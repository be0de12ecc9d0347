import { z } from 'zod'
import { viewerOf } from '../api/context.ts'
import type { Finds } from '../api/contract.ts'
import { createdCursor } from '../api/cursors.ts'
import { foundById } from '../api/errors.ts'
import { envelope, paged } from '../api/pagination.ts'
import { requireFeature } from '../api/planGates.ts'
import { get, post, remove, router } from '../api/route.ts'
import { readArguments } from '../events/index.ts'
import { callbackIssues } from './check.ts'
import { endSubscription } from './end.ts'
import { findSubscription, listSubscriptions, newestDeliveries, type ShownRow } from './queries.ts'
import {
  createInput,
  EventSubscription,
  EventSubscriptionDetail,
  listInput,
  oneInput,
  Subscribed,
  unsubscribeInput,
} from './schema.ts'
import { identityOf, subscribe, subscriptionId } from './subscribe.ts'
import { deliveryView, subscriptionView } from './view.ts'

/** Messages that the route of one subscription shows. */
const DELIVERIES_SHOWN = 20

const findsSubscription: Finds<{ subscription: ShownRow }> = async (ctx, ids) => {
  const find = (id: string) => findSubscription(ctx.db, viewerOf(ctx), id)
  return { subscription: await foundById(ids.subscriptionId, 'subscription', find) }
}

/** Subscriptions of agents to events, which are sent to a callback. */
export const subscriptionRoutes = router({
  list: get('/api/v1/subscriptions', {
    summary: 'List event subscriptions, newest first',
    input: listInput,
    output: envelope(EventSubscription),
    narrows: true,
  }).query(async ({ ctx, input }) => {
    const now = ctx.clock.now()
    return paged(await listSubscriptions(ctx.db, viewerOf(ctx), input), input, {
      view: (row) => subscriptionView(row, now),
      cursorOf: createdCursor('subscriptions'),
    })
  }),

  get: get('/api/v1/subscriptions/{subscriptionId}', {
    summary: 'Read an event subscription, with its newest messages and their attempts',
    input: oneInput,
    output: EventSubscriptionDetail,
    finds: findsSubscription,
    narrows: true,
  }).query(async ({ ctx }) => {
    const { subscription, db, clock } = ctx
    const deliveries = await newestDeliveries(db, subscription.id, DELIVERIES_SHOWN)
    return { ...subscriptionView(subscription, clock.now()), deliveries: deliveries.map(deliveryView) }
  }),

  create: post('/api/v1/subscriptions', {
    summary: 'Subscribe a callback to events, or refresh, as `events/subscribe` of `/mcp` does',
    description:
      'A POST with a challenge checks the callback before its first event: it answers 2xx `{"challenge": …}`. Messages are signed by Standard Webhooks. The same name, arguments and URL refresh the subscription; its position stays. An event has 4 attempts within 15 minutes.',
    input: createInput,
    example: {
      name: 'shop.order.paid',
      arguments: { fields: ['body.amount'] },
      delivery: {
        mode: 'webhook',
        url: 'https://agent.example.com/events',
        secret: 'whsec_c2VjcmV0LW9mLXR3ZW50eS1mb3VyLWJ5dGVz',
      },
      ttlMs: 3_600_000,
    },
    output: Subscribed,
    errors: ['not_found', 'callback_failed', 'limit_reached', 'feature_not_in_plan'],
    gate: ({ plan }) => requireFeature(plan, 'eventSubscriptions'),
    narrows: true,
    check: async (ctx, { arguments: given, delivery }) => {
      const read = readArguments(given)
      const issues = 'issues' in read ? read.issues : []
      return delivery === undefined ? issues : [...issues, ...(await callbackIssues(ctx, delivery))]
    },
  }).mutation(({ ctx, input }) => subscribe(ctx, input)),

  unsubscribe: post('/api/v1/subscriptions/unsubscribe', {
    summary: 'End the subscription of a callback, as `events/unsubscribe` of `/mcp` does',
    input: unsubscribeInput,
    example: { name: 'shop.order.paid', delivery: { url: 'https://agent.example.com/events' } },
    output: z.object({ ended: z.boolean().describe('False where there was none') }),
    narrows: true,
  }).mutation(async ({ ctx, input }) => {
    const id = subscriptionId(await identityOf(ctx, input))
    return { ended: await endSubscription(ctx, id, { tells: false }) }
  }),

  end: remove('/api/v1/subscriptions/{subscriptionId}', {
    summary: 'End an event subscription: nothing more is sent to its callback',
    input: oneInput,
    output: z.null(),
    finds: findsSubscription,
    narrows: true,
  }).mutation(async ({ ctx }) => {
    await endSubscription(ctx, ctx.subscription.id, { tells: true })
    return null
  }),
})
