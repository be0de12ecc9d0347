import type { McpServer, ServerContext } from '@modelcontextprotocol/server'
import type { CallAnswer } from 'creel-client'
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
      const delivered = { ...input, delivery: { mode, url, secret } }
      const { deliveryStatus, ...subscribed } = await api.call('subscriptions.create', delivered)
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
    const input = { name, arguments: given, delivery: { url: delivery.url } }
    const { ended } = await api.call('subscriptions.unsubscribe', input).catch((error: unknown) => {
      throw eventError(error, { isDeclared, kind: 'subscription' })
    })
    if (!ended && isDeclared) throw noSubscription()
    return {}
  })
}

/** The status in the protocol's format: absent members instead of null, except `lastError`. */
function statusOf(status: NonNullable<CallAnswer<'subscriptions_create'>['deliveryStatus']>) {
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
