import type { Answers } from '../trpc.ts'

/** An alert channel. */
export type Channel = Answers['alertChannels']['list']['items'][number]

/** What a channel subscribes to. */
export type Subscriptions = Channel['events']
