import { queryOptions } from '@tanstack/react-query'
import { creel } from '../trpc.ts'

/** The workspace, its plan and its limits. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: () => creel.me.get.query({}),
  staleTime: 60_000,
})

/** Who is signed in here, and as what. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => creel.sessions.current.query({}),
  staleTime: 60_000,
})

/** The endpoints of the workspace, newest first; at most 100. The stream of the workspace keeps them as they are. */
export const endpointsQuery = queryOptions({
  queryKey: ['endpoints'],
  queryFn: () => creel.endpoints.list.query({ page: 1, pageSize: 100 }),
})

/** One endpoint. */
export const endpointQuery = (endpointId: string) =>
  queryOptions({
    queryKey: ['endpoint', endpointId],
    queryFn: () => creel.endpoints.get.query({ endpointId }),
  })

/** The providers that are recognised; never changes while the page stands. */
export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: () => creel.providers.list.query({}),
  staleTime: Number.POSITIVE_INFINITY,
})

/** Every watchdog, up to 100. */
export const watchdogsQuery = queryOptions({
  queryKey: ['watchdogs'],
  queryFn: () => creel.watchdogs.list.query({ page: 1, pageSize: 100 }),
})

/** Incidents that are open. */
export const openIncidentsQuery = queryOptions({
  queryKey: ['incidents', 'open'],
  queryFn: () => creel.incidents.list.query({ state: 'open', page: 1, pageSize: 100 }),
})
