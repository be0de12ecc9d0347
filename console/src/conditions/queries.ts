import { queryOptions } from '@tanstack/react-query'
import { layoutOf } from '../body/layout.ts'
import { creel } from '../trpc.ts'
import { valuesByPath } from '../words/diff.ts'

const SAMPLES = 8

/** What the last captures of an endpoint hold: paths of their bodies, with an example each. */
export const shapeQuery = (endpointId: string) =>
  queryOptions({
    queryKey: ['shape', endpointId],
    queryFn: () => shapeOf(endpointId),
    staleTime: 60_000,
  })

async function shapeOf(endpointId: string): Promise<{ paths: { path: string; example: string }[] }> {
  const { items } = await creel.requests.list.query({ endpointId, page: 1, pageSize: SAMPLES })
  const requests = await Promise.all(
    items.map(({ id }) => creel.requests.get.query({ endpointId, requestId: id })),
  )
  const examples = new Map<string, string>()
  for (const { body, bodyIsBinary, bodyTruncated, contentType, sizeBytes } of requests) {
    const { lines } = layoutOf({
      body,
      isBinary: bodyIsBinary,
      isTruncated: bodyTruncated,
      contentType,
      sizeBytes,
    })
    for (const [path, value] of valuesByPath(lines ?? [])) if (!examples.has(path)) examples.set(path, value)
  }
  return { paths: [...examples].map(([path, example]) => ({ path, example })) }
}
