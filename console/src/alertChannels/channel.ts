import type { Answers } from '../trpc.ts'

/** An alert channel. */
export type Channel = Answers['alertChannels']['list']['items'][number]

/** The event subscriptions of a channel. */
export type Subscriptions = Channel['events']
