import { DAY_MS } from '../platform/time/index.ts'
/** Days in the bin, regardless of the plan. */
export const BIN_DAYS = 7

/**
 * When a binned request is deleted permanently: 7 days after its deletion, or when the plan's retention ends, whichever
 * is first. It changes with the plan. From then on the request is neither listed nor restorable, even before the sweep.
 */
export function purgesAt(
  request: { readonly deletedAt: Date; readonly receivedAt: Date },
  retentionMs: number,
): Date {
  return new Date(
    Math.min(request.deletedAt.getTime() + BIN_DAYS * DAY_MS, request.receivedAt.getTime() + retentionMs),
  )
}

/** The members of a deleted request that a restore needs. */
export interface BinnedRequest {
  readonly endpointId: string
  readonly id: number
  readonly receivedAt: Date
}

/**
 * Chooses the requests to restore: the newest by `receivedAt` first, for each endpoint as many as it has room for.
 *
 * @param room remaining room of each endpoint for stored requests; an absent endpoint has none
 * @returns the requests to restore, and the number of those that stay in the bin because of the limit
 */
export function planRestore<Request extends BinnedRequest>(
  requests: readonly Request[],
  room: ReadonlyMap<string, number>,
): { readonly restored: Request[]; readonly skippedAtCap: number } {
  const left = new Map(room)
  const newestFirst = requests.toSorted(
    (a, b) => b.receivedAt.getTime() - a.receivedAt.getTime() || b.id - a.id,
  )
  const restored = newestFirst.filter(({ endpointId }) => {
    const places = left.get(endpointId) ?? 0
    if (places > 0) left.set(endpointId, places - 1)
    return places > 0
  })
  return { restored, skippedAtCap: requests.length - restored.length }
}
