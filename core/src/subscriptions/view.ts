import type { z } from 'zod'
import type { newestDeliveries, ShownRow, SubscriptionRow } from './queries.ts'
import {
  type DeliveryStatus,
  type EventSubscription,
  type EventSubscriptionDetail,
  StoredAttempts,
} from './schema.ts'

export function statusView(
  row: Pick<SubscriptionRow, 'lastDeliveryAt' | 'lastError' | 'failedSince' | 'throttledUntil'>,
  now: Date,
): z.input<typeof DeliveryStatus> {
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

/** Converts a row to the API's shape, without its sealed callback. */
export function subscriptionView(
  { callback: _sealed, ...row }: ShownRow,
  now: Date,
): z.input<typeof EventSubscription> {
  return {
    ...row,
    arguments: JSON.parse(row.arguments),
    key: { id: row.keyId, name: row.keyName, prefix: row.keyPrefix },
    cursor: String(row.watermark),
    status: statusView(row, now),
  }
}

/** The view of a message; one that has ended has no next attempt. */
export function deliveryView(
  row: Awaited<ReturnType<typeof newestDeliveries>>[number],
): z.input<typeof EventSubscriptionDetail>['deliveries'][number] {
  return {
    ...row,
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
