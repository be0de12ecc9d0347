import { queryOptions, useQuery } from '@tanstack/react-query'
import { type Answers, creel } from '../trpc.ts'

export type Channel = Answers['alertChannels']['list']['items'][number]
export type Subscriptions = Channel['events']

export const alertEventsQuery = queryOptions({
  queryKey: ['alert events'],
  queryFn: () => creel.alertChannels.events.query({}),
  staleTime: Number.POSITIVE_INFINITY,
})

/** The name of a kind of event, as the form of a channel lists it. */
export function useEventName(): (kind: string) => string {
  const events = useQuery(alertEventsQuery)
  return (kind) =>
    kind === 'channel.test'
      ? 'Test message'
      : (events.data?.items.find((one) => one.kind === kind)?.displayName ?? kind)
}

export const CHANNELS = ['channels']
