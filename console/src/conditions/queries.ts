import { queryOptions } from '@tanstack/react-query'
import { creel } from '../trpc.ts'

const SAMPLES = 100

/** Shape of the last captures of an endpoint: paths with their types, their share and an example each. */
export const shapeQuery = (endpointId: string) =>
  queryOptions({
    queryKey: ['shape', endpointId],
    queryFn: () => creel.requests.shape.query({ endpointId, last: SAMPLES }),
    staleTime: 60_000,
  })
