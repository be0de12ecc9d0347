import { z } from 'zod'
import { requireOwner } from '../api/access.ts'
import { router, typedOnly, typedStream } from '../api/route.ts'
import { openStream } from '../streams/index.ts'
import { followWorkspace } from './follow.ts'
import { readWaiting } from './queries.ts'
import { Waiting } from './schema.ts'

/** Follow the whole workspace: counts of its endpoints, incidents, alarms. For its owner: the deliveries that wait. */
export const overviewRoutes = router({
  follow: typedStream({ input: z.object({}), narrows: true }).subscription(({ ctx }) =>
    openStream(ctx, (open) => Promise.resolve(followWorkspace(ctx, open))),
  ),

  health: typedOnly({
    input: z.object({}),
    output: z.object({ waiting: z.array(Waiting) }),
    gate: requireOwner,
  }).query(async ({ ctx }) => ({ waiting: [...(await readWaiting(ctx.db, ctx.workspace.id))] })),
})
