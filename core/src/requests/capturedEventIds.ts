import type { Db } from '../platform/db/index.ts'

/**
 * Filters event ids to those of stored requests of the endpoint. Deleted requests count until they are purged. Served by the
 * index of requests that have an event id.
 *
 * @param hash makes the digest of an id, which a request has instead if rules took the id out; null without a key
 */
export async function capturedEventIds(
  db: Db,
  endpointId: string,
  eventIds: readonly string[],
  hash: ((text: string) => string) | null,
): Promise<ReadonlySet<string>> {
  if (eventIds.length === 0) return new Set()
  const idOf = new Map(eventIds.map((id) => [hash === null ? id : hash(id), id]))
  const rows = await db
    .selectFrom('requests')
    .where('endpointId', '=', endpointId)
    .where('eventId', 'in', [...eventIds, ...idOf.keys()])
    .select('eventId')
    .distinct()
    .execute()
  return new Set(rows.flatMap(({ eventId }) => (eventId === null ? [] : (idOf.get(eventId) ?? eventId))))
}
