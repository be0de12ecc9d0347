import { queryOptions } from '@tanstack/react-query'
import { type Answers, creel } from '../trpc.ts'

/** A run that compares captures with the list of their sender. */
export type Reconciliation = Answers['reconcile']['get']

/** How many runs are shown. */
const RUNS_SHOWN = 5
const LOOK_EVERY_MS = 1500
const GAPS_EVERY_MS = 60_000

/** Whether a run has not ended. */
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
