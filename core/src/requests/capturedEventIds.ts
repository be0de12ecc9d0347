import type { Db } from '../platform/db/index.ts'

/**
 * Filters event ids to those of stored requests of the endpoint. Deleted requests count until they are purged. Served by the
 * index of requests that have an event id.
 */
export async function capturedEventIds(
  db: Db,
  endpointId: string,
  eventIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (eventIds.length === 0) return new Set()
  const rows = await db
    .selectFrom('requests')
    .where('endpointId', '=', endpointId)
    .where('eventId', 'in', eventIds)
    .select('eventId')
    .distinct()
    .execute()
  return new Set(rows.flatMap(({ eventId }) => eventId ?? []))
}
