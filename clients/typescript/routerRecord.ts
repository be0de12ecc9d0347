import type { inferRouterOutputs } from '@trpc/server'
import { type AppRouter, appRouter } from '../../core/src/router.ts'

/** Its inferred type is what `build.ts` has the compiler write out: every procedure, with nothing left to look up. */
export const record = appRouter._def.record

type Followed = inferRouterOutputs<AppRouter>['requests']['follow']
type FollowedEvent = Followed extends AsyncIterable<{ readonly data: infer Event }> ? Event : never

declare const event: FollowedEvent
declare function expanded<Value>(
  value: Value,
): Value extends infer Inner ? { [Name in keyof Inner]: Inner[Name] } : never

/** The same for events of a stream, whose type the record only names. */
export const followedEvent = expanded(event)
