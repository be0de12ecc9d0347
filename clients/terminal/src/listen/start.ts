import { itemsByIdOf, type RequestFilters } from 'creel-client'
import type { ApiClient } from '../api/apiClient.ts'
import { cannotRead } from '../clientError.ts'
import { momentOf } from '../words.ts'
import type { Progress } from './checkpoint.ts'
import { RESUMED } from './view.ts'

export interface Start extends Progress {
  /** The position as text: {@link RESUMED}, `now`, `#12`, a time. */
  readonly from: string
  /** Number of requests that are waiting already. */
  readonly waiting: number
}

/**
 * Finds the start position: the checkpoint, or `--since`.
 *
 * @param since a request's id, a span (`10m`), a date, `now`, `last` (the checkpoint) or `start`; undefined: the
 *   checkpoint, or now without one
 * @param filters filters of the requests that count as waiting
 * @throws ClientError when it is none of these
 */
export async function findStart(
  api: ApiClient,
  endpointId: string,
  {
    since,
    stored,
    filters,
  }: { since: string | undefined; stored: Progress | undefined; filters: RequestFilters },
): Promise<Start> {
  const after = async (progress: Progress, from: string): Promise<Start> => ({
    ...progress,
    from,
    waiting: await countMatching(api, endpointId, { ...filters, afterId: progress.done }),
  })
  if ((since === undefined || since === 'last') && stored !== undefined) {
    return await after(stored, RESUMED)
  }
  if (since === undefined || since === 'last' || since === 'now') {
    // Nothing can be waiting, which saves a call before the first line.
    return { done: await newestId(api, endpointId), beyond: [], from: 'now', waiting: 0 }
  }
  if (since === 'start') return await after({ done: 0, beyond: [] }, 'the first')
  const [, id] = /^#?(\d+)$/.exec(since) ?? []
  if (id !== undefined) return await after({ done: Math.max(0, Number(id) - 1), beyond: [] }, `#${id}`)
  const moment = momentOf(since, Date.now())
  if (moment === undefined)
    throw cannotRead('--since', since, 'Give the id of a request, 10m, 2026-11-01, now, last or start.')
  const oldest = await oldestIdSince(api, endpointId, moment)
  const done = oldest === undefined ? await newestId(api, endpointId) : oldest - 1
  return await after({ done, beyond: [] }, moment)
}

/** The largest id of the endpoint; 0 if it has no requests. */
async function newestId({ calls }: ApiClient, endpointId: string): Promise<number> {
  const { items } = await calls.requests.list({ endpointId, pageSize: 1 })
  return items[0]?.id ?? 0
}

async function oldestIdSince(api: ApiClient, endpointId: string, since: string): Promise<number | undefined> {
  const { list } = api.calls.requests
  const { totalCount, search } = await list({ endpointId, since, pageSize: 1, partial: true })
  if (search?.complete === false) return await lastIdOf(api, endpointId, since)
  if (totalCount === 0) return undefined
  // A new capture moves the oldest one to a later page, and the former last page has a younger one. Then search again.
  const { items } = await list({ endpointId, since, pageSize: 1, page: totalCount })
  const { totalCount: now } = await list({ endpointId, since, pageSize: 1 })
  return now === totalCount ? items[0]?.id : oldestIdSince(api, endpointId, since)
}

/**
 * The newest id, found by reading the list to its end. For lists so long that the service estimates the number of their requests.
 */
async function lastIdOf(
  { calls }: ApiClient,
  endpointId: string,
  since: string,
): Promise<number | undefined> {
  let last: number | undefined
  const all = itemsByIdOf((from) =>
    calls.requests.list({ endpointId, since, ...from, partial: true, pageSize: 100 }),
  )
  for await (const { id } of all) last = id
  return last
}

/** The number of requests that match, e.g. those after one: `{ afterId }`. An estimate where the search takes long. */
export async function countMatching(
  { calls }: ApiClient,
  endpointId: string,
  filters: RequestFilters,
): Promise<number> {
  return (await calls.requests.list({ ...filters, endpointId, pageSize: 1, partial: true })).totalCount
}
