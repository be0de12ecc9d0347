import { itemsOf, type RequestFilters } from 'creel-client'
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

/** Read oldest first, so that neither a capture nor a removal meanwhile moves it. */
async function oldestIdSince(
  { calls }: ApiClient,
  endpointId: string,
  since: string,
): Promise<number | undefined> {
  const of = { endpointId, since, pageSize: 1, partial: true } as const
  const page = await calls.requests.list(of)
  // A service before 0.2.0 knows no order. Its oldest is on the last page.
  if (page.next === undefined) {
    if (page.totalPages === 0) return undefined
    return (await calls.requests.list({ ...of, page: page.totalPages })).items[0]?.id
  }
  const all = itemsOf((from) => calls.requests.list({ ...of, ...from, order: 'asc' }))
  for await (const { id } of all) return id
  return undefined
}

/** The number of requests that match, e.g. those after one: `{ afterId }`. An estimate where the search takes long. */
export async function countMatching(
  { calls }: ApiClient,
  endpointId: string,
  filters: RequestFilters,
): Promise<number> {
  return (await calls.requests.list({ ...filters, endpointId, pageSize: 1, partial: true })).totalCount
}
