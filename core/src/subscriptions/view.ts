import { z } from 'zod'
import { FAILURES } from './callback.ts'
import type { newestDeliveries, ShownRow, SubscriptionRow } from './queries.ts'
import type { EventSubscription, EventSubscriptionDetail, Subscribed } from './schema.ts'

/** An attempt as a message stores it. */
export const StoredAttempts = z.array(
  z.object({
    at: z.string(),
    statusCode: z.int().nullable(),
    error: z.enum(FAILURES).nullable(),
    durationMs: z.int(),
  }),
)

export function statusView(
  row: Pick<SubscriptionRow, 'lastDeliveryAt' | 'lastError' | 'failedSince' | 'throttledUntil'>,
  now: Date,
): NonNullable<z.input<typeof Subscribed>['deliveryStatus']> {
  const throttledMs = (row.throttledUntil?.getTime() ?? 0) - now.getTime()
  return {
    active: row.failedSince === null,
    lastDeliveryAt: row.lastDeliveryAt,
    lastError: row.lastError,
    failedSince: row.failedSince,
    throttled: throttledMs > 0,
    retryAfterMs: throttledMs > 0 ? throttledMs : null,
  }
}

/** Converts a row to the API's shape. */
export function subscriptionView(row: ShownRow, now: Date): z.input<typeof EventSubscription> {
  return {
    id: row.id,
    endpointId: row.endpointId,
    name: row.name,
    arguments: JSON.parse(row.arguments),
    key: { id: row.keyId, name: row.keyName, prefix: row.keyPrefix },
    host: row.host,
    createdAt: row.createdAt,
    refreshedAt: row.refreshedAt,
    expiresAt: row.expiresAt,
    cursor: String(row.watermark),
    waitingCount: row.waitingCount,
    sentCount: row.sentCount,
    failedCount: row.failedCount,
    status: statusView(row, now),
  }
}

/** The view of a message; one that has ended has no next attempt. */
export function deliveryView(
  row: Awaited<ReturnType<typeof newestDeliveries>>[number],
): z.input<typeof EventSubscriptionDetail>['deliveries'][number] {
  return {
    messageId: row.messageId,
    requestId: row.requestId,
    state: row.state,
    nextAt: row.state === 'waiting' ? row.nextAt : null,
    attempts: StoredAttempts.parse(JSON.parse(row.attempts)).map((attempt) => ({
      ...attempt,
      at: new Date(attempt.at),
    })),
  }
}

/** The part of a subscription that the audit log shows. */
export function auditedView({ name, arguments: given, host, endpointId, keyId }: SubscriptionRow): object {
  return { name, arguments: JSON.parse(given), host, endpointId, keyId }
}
