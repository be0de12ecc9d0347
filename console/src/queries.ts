import { queryOptions } from '@tanstack/react-query'
import { type Answers, creel, mayPass, type RequestSummary } from './trpc.ts'
import { keepDraftsOf } from './usePersisted.ts'

const SAMPLES = 100

/** Shape of the last captures of an endpoint: paths with their types, their share and an example each. */
export const shapeQuery = (endpointId: string) =>
  queryOptions({
    queryKey: ['shape', endpointId],
    queryFn: () => creel.requests.shape.query({ endpointId, last: SAMPLES }),
    staleTime: 60_000,
  })

const PENDING_EVERY_MS = 3_000

/** Longer bodies are loaded on request. */
const SHOWN_BODY_BYTES = 262_144

/** A request, without a long body; refetched when its deliveries change. */
export const requestQuery = (endpointId: string, requestId: number, row?: RequestSummary) =>
  queryOptions({
    queryKey: ['request', endpointId, requestId, row?.state, row?.attemptCount, row?.deliveryCounts],
    queryFn: () => creel.requests.get.query({ endpointId, requestId, bodyBytesMax: SHOWN_BODY_BYTES }),
    placeholderData: (before) => (before?.id === requestId ? before : undefined),
    staleTime: 60_000,
    // The stream has news of loaded rows only. After a refusal, as of a deleted request, nothing is asked again.
    refetchInterval: ({ state: { data, error } }) =>
      row === undefined && (error === null || mayPass(error)) && data?.state === 'Pending'
        ? PENDING_EVERY_MS
        : false,
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

/** A run that compares captures with the list of their sender. */
export type Reconciliation = Answers['reconcile']['get']

const RUNS_SHOWN = 5
const LOOK_EVERY_MS = 1500
const GAPS_EVERY_MS = 60_000

export const isUnderWay = ({ state }: Reconciliation): boolean => state === 'queued' || state === 'running'

/** The newest runs of an endpoint; looked at again while one is under way. */
export const runsQuery = (endpointId: string) =>
  queryOptions({
    queryKey: ['reconciliations', endpointId],
    queryFn: () => creel.reconcile.list.query({ endpointId, page: 1, pageSize: RUNS_SHOWN }),
    refetchInterval: ({ state }) => (state.data?.items.some(isUnderWay) === true ? LOOK_EVERY_MS : false),
  })

/** Numbers that are missing in the sequence of an endpoint's event ids. */
export const gapsQuery = (endpointId: string) =>
  queryOptions({
    queryKey: ['gaps', endpointId],
    queryFn: () => creel.reconcile.gaps.query({ endpointId }),
    refetchInterval: GAPS_EVERY_MS,
  })

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async () => keepDraftsOf(await creel.sessions.current.query({})),
  staleTime: 60_000,
})

const ENDPOINT_PAGES_MAX = 10
/** The newest endpoints, which the workspace's stream keeps up to date. */
export const FOLLOWED_ENDPOINTS = 100

/** The endpoints of the workspace, newest first; at most 1,000, of which {@link FOLLOWED_ENDPOINTS} are live. */
export const endpointsQuery = queryOptions({
  queryKey: ['endpoints'],
  queryFn: async ({ signal }) => {
    const read = (page: number) => creel.endpoints.list.query({ page, pageSize: 100 }, { signal })
    const first = await read(1)
    // A new endpoint moves others to the next page, which has them once more.
    const items = new Map(first.items.map((one) => [one.id, one]))
    for (let page = 2; page <= Math.min(first.totalPages, ENDPOINT_PAGES_MAX); page += 1)
      for (const one of (await read(page)).items) items.set(one.id, one)
    return { ...first, items: [...items.values()] }
  },
})

export const endpointQuery = (endpointId: string) =>
  queryOptions({
    queryKey: ['endpoint', endpointId],
    queryFn: () => creel.endpoints.get.query({ endpointId }),
  })

/** The catalog of providers; constant while the page is open. */
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

export const openIncidentsQuery = queryOptions({
  queryKey: ['incidents', 'open'],
  queryFn: () => creel.incidents.list.query({ state: 'open', page: 1, pageSize: 100 }),
})
