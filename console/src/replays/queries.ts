import { queryOptions } from '@tanstack/react-query'
import { type Answers, creel } from '../trpc.ts'

export type ReplayRun = Answers['replays']['get']

export type ReplayResult = Answers['replays']['results']['items'][number]

const SHOWN = 20
const LOOK_EVERY_MS = 1000

export const isUnderWay = ({ state }: Pick<ReplayRun, 'state'>): boolean =>
  state === 'queued' || state === 'running' || state === 'paused'

/** The newest replays of an endpoint; looked at again while one is under way. */
export const replaysQuery = (endpointId: string) =>
  queryOptions({
    queryKey: ['replays', endpointId],
    queryFn: () => creel.replays.list.query({ endpointId, page: 1, pageSize: SHOWN }),
    refetchInterval: ({ state }) => (state.data?.items.some(isUnderWay) === true ? LOOK_EVERY_MS : false),
  })

/** Sends of a replay that differ from their baseline, failed, or could not be made: the first of each. */
export const differencesQuery = (endpointId: string, { id: replayId, counts }: ReplayRun) =>
  queryOptions({
    queryKey: ['replay results', endpointId, replayId, counts],
    queryFn: async () => {
      const of = { endpointId, replayId, limit: SHOWN }
      const [changed, failed, errored] = await Promise.all([
        creel.replays.results.query({ ...of, outcome: 'changed' }),
        creel.replays.results.query({ ...of, outcome: 'failed' }),
        creel.replays.results.query({ ...of, state: 'errored' }),
      ])
      return { changed: changed.items, failed: failed.items, errored: errored.items }
    },
    placeholderData: (before) => before,
  })
