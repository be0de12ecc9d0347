import { queryOptions } from '@tanstack/react-query'
import { creel, type RequestSummary } from '../trpc.ts'

/** A request, whole; read anew when its deliveries moved. */
export const requestQuery = (endpointId: string, requestId: number, row?: RequestSummary) =>
  queryOptions({
    queryKey: ['request', endpointId, requestId, row?.state, row?.attemptCount],
    queryFn: () => creel.requests.get.query({ endpointId, requestId }),
    placeholderData: (before) => (before?.id === requestId ? before : undefined),
    staleTime: 60_000,
  })

/** The attempts of a request, newest first, up to 100. */
export const attemptsQuery = (
  endpointId: string,
  requestId: number,
  row?: Pick<RequestSummary, 'state' | 'attemptCount'>,
) =>
  queryOptions({
    queryKey: ['attempts', endpointId, requestId, row?.state, row?.attemptCount],
    queryFn: () => creel.deliveries.list.query({ endpointId, requestId, page: 1, pageSize: 100 }),
    placeholderData: (before) => before,
  })

/** The actions of an endpoint, and what could be added. */
export const actionsQuery = (endpointId: string) =>
  queryOptions({
    queryKey: ['actions', endpointId],
    queryFn: () => creel.actions.list.query({ endpointId }),
  })
