import type { Answers } from '../trpc.ts'

/** A rule as it is saved. */
export type Rule = Answers['transformations']['getSet']['rules'][number]
