import type { McpServer, ServerContext } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { eventError, noSubscription, unsupported } from './eventErrors.ts'
import type { McpApi } from './mcpApi.ts'

const Delivery = z.looseObject({ mode: z.unknown().optional(), url: z.string() })
const SubscribeParams = z.looseObject({
  name: z.string(),
  arguments: z.unknown().optional(),
  cursor: z.unknown().optional(),
  maxAgeMs: z.unknown().optional(),
  ttlMs: z.unknown().optional(),
  delivery: Delivery.extend({ secret: z.string().optional() }),
})
const UnsubscribeParams = z.looseObject({
  name: z.string(),
  arguments: z.unknown().optional(),
  delivery: Delivery,
})
const Status = z.object({
  active: z.boolean(),
  lastDeliveryAt: z.string().nullable(),
  lastError: z.string().nullable(),
  failedSince: z.string().nullable(),
  throttled: z.boolean(),
  retryAfterMs: z.int().nullable(),
})
const Subscribed = z.object({
  id: z.string(),
  refreshBefore: z.string(),
  cursor: z.string(),
  truncated: z.boolean(),
  deliveryStatus: Status.nullable(),
})
const Ended = z.object({ ended: z.boolean() })

/**
 * Adds subscribing and unsubscribing of callbacks. Clients that declare the extension get its codes and its messages
 * `gap` and `terminated`; the others get those of its drafts, and events only.
 */
export function addSubscriptions(
  server: McpServer,
  api: McpApi,
  declares: (ctx: ServerContext) => boolean,
): void {
  const on = server.server
  on.setRequestHandler('events/subscribe', { params: SubscribeParams }, async (params, ctx) => {
    const isDeclared = declares(ctx)
    const { name, arguments: given, cursor, maxAgeMs, ttlMs, delivery } = params
    const { mode, url, secret } = delivery
    if (mode !== 'webhook') throw unsupported('deliveryMode', mode ?? null, isDeclared)
    const input = { name, arguments: given, cursor, maxAgeMs, ttlMs, controls: isDeclared }
    try {
      const answer = await api.call('subscriptions.create', { ...input, delivery: { mode, url, secret } })
      const { deliveryStatus, ...subscribed } = Subscribed.parse(answer)
      return deliveryStatus === null
        ? subscribed
        : { ...subscribed, deliveryStatus: statusOf(deliveryStatus) }
    } catch (error) {
      throw eventError(error, { isDeclared })
    }
  })

  on.setRequestHandler('events/unsubscribe', { params: UnsubscribeParams }, async (params, ctx) => {
    const isDeclared = declares(ctx)
    const { name, arguments: given, delivery } = params
    if (delivery.mode !== undefined && delivery.mode !== 'webhook') {
      throw unsupported('deliveryMode', delivery.mode, isDeclared)
    }
    let ended: boolean
    try {
      const answer = await api.call('subscriptions.unsubscribe', {
        name,
        arguments: given,
        delivery: { url: delivery.url },
      })
      ;({ ended } = Ended.parse(answer))
    } catch (error) {
      throw eventError(error, { isDeclared, kind: 'subscription' })
    }
    if (!ended && isDeclared) throw noSubscription()
    return {}
  })
}

/** The status in the protocol's format: absent members instead of null, except `lastError`. */
function statusOf(status: z.output<typeof Status>) {
  const { active, lastError, throttled, lastDeliveryAt, failedSince, retryAfterMs } = status
  return {
    active,
    lastError,
    throttled,
    ...(lastDeliveryAt === null ? {} : { lastDeliveryAt }),
    ...(failedSince === null ? {} : { failedSince }),
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  }
}
