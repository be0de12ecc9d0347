import { queryOptions } from '@tanstack/react-query'
import { creel, type RequestSummary } from '../trpc.ts'

const SAMPLES = 100

/** Shape of the last captures of an endpoint: paths with their types, their share and an example each. */
export const shapeQuery = (endpointId: string) =>
  queryOptions({
    queryKey: ['shape', endpointId],
    queryFn: () => creel.requests.shape.query({ endpointId, last: SAMPLES }),
    staleTime: 60_000,
  })

/** Longer bodies are loaded on request. */
const SHOWN_BODY_BYTES = 262_144

/** A request, without a long body; refetched when its deliveries change. */
export const requestQuery = (endpointId: string, requestId: number, row?: RequestSummary) =>
  queryOptions({
    queryKey: ['request', endpointId, requestId, row?.state, row?.attemptCount, row?.deliveryCounts],
    queryFn: () => creel.requests.get.query({ endpointId, requestId, bodyBytesMax: SHOWN_BODY_BYTES }),
    placeholderData: (before) => (before?.id === requestId ? before : undefined),
    staleTime: 60_000,
  })

/** The attempts of a request, newest first, up to 100. */
export const attemptsQuery = (
  endpointId: string,
  requestId: number,
  row?: Pick<RequestSummary, 'state' | 'attemptCount' | 'deliveryCounts'>,
) =>
  queryOptions({
    queryKey: ['attempts', endpointId, requestId, row?.state, row?.attemptCount, row?.deliveryCounts],
    queryFn: () => creel.deliveries.list.query({ endpointId, requestId, page: 1, pageSize: 100 }),
    placeholderData: (before) => before,
  })

/** The actions of an endpoint, and the options for new ones. */
export const actionsQuery = (endpointId: string) =>
  queryOptions({
    queryKey: ['actions', endpointId],
    queryFn: () => creel.actions.list.query({ endpointId }),
  })
