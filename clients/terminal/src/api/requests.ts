import type { z } from 'zod'
import type { ApiClient, Query } from './apiClient.ts'
import { pageOf, RequestDetail } from './shapes.ts'

/** The path of an endpoint's requests, or of one of them. */
export function requestsPath(endpointId: string, requestId?: number): string {
  const requests = `/api/v1/endpoints/${encodeURIComponent(endpointId)}/requests`
  return requestId === undefined ? requests : `${requests}/${requestId}`
}

/** Reads a captured request with its headers and body. */
export function requestOf(api: ApiClient, endpointId: string, requestId: number): Promise<RequestDetail> {
  return api.get(requestsPath(endpointId, requestId), RequestDetail)
}

/**
 * Every item of a list, page by page, each once. Pages follow a cursor, which also resumes a search that was ended
 * because it took long. If the service gives no cursors, new items shift the pages; duplicates are skipped then.
 */
export async function* pagesOf<Item extends z.ZodType<{ readonly id: number | string }>>(
  api: ApiClient,
  path: string,
  item: Item,
  query: Query = {},
): AsyncGenerator<z.output<Item>> {
  const page = pageOf(item)
  const seen = new Set<number | string>()
  let from: Query = { page: 1 }
  for (let number = 2; ; number += 1) {
    const { items, totalPages, next } = await api.get(path, page, { ...query, ...from, pageSize: 100 })
    for (const one of items) {
      if (seen.has(one.id)) continue
      seen.add(one.id)
      yield one
    }
    if (next === null || (next === undefined && number > totalPages)) return
    from = next === undefined ? { page: number } : { before: next }
  }
}

/** The value of a captured header as sent: a latin1 string, in which each character is one byte. */
export function headerBytes({ value, encoding }: RequestDetail['rawHeaders'][number]): string {
  return encoding === 'latin1' ? value : Buffer.from(value, 'utf8').toString('latin1')
}
