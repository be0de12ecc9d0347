import type { Answers } from '../trpc.ts'

/** A stored rule. */
export type Rule = Answers['transformations']['getSet']['rules'][number]
