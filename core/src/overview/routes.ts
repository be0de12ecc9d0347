import { z } from 'zod'
import { router, typedStream } from '../api/route.ts'
import { openStream } from '../streams/index.ts'
import { followWorkspace } from './follow.ts'

/** Follow the whole workspace: counts of its endpoints, incidents, alarms. */
export const overviewRoutes = router({
  follow: typedStream({ input: z.object({}), narrows: true }).subscription(({ ctx }) =>
    openStream(ctx, (open) => Promise.resolve(followWorkspace(ctx, open))),
  ),
})
