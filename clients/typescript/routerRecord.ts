import { appRouter } from '@creel/core'

/** Its inferred type is what `build.ts` has the compiler write out: every procedure, with nothing left to look up. */
export const record = appRouter._def.record
