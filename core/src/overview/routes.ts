import { z } from 'zod'
import { requireOwner } from '../api/access.ts'
import type { Context } from '../api/context.ts'
import { router, typedOnly, typedStream } from '../api/route.ts'
import { Timestamp } from '../api/values.ts'
import { type OpenStream, openStream } from '../streams/index.ts'
import { OVERVIEW_ENDPOINTS, type OverviewRow, readWaiting } from './queries.ts'
import { joinWorkspace } from './workspaceWatch.ts'

/** Changes of a workspace since the previous event; the first event contains everything. */
const WorkspaceEvent = z.object({
  /** New or changed endpoints, among the newest hundred. */
  endpoints: z
    .array(
      z.object({
        id: z.uuid(),
        name: z.string(),
        isActive: z.boolean(),
        expiresAt: Timestamp.nullable(),
        storedRequestCount: z.int(),
        lastRequestAt: Timestamp.nullable(),
        /** Captures answered 429 since its creation; the difference of two events is the number in between. */
        rejectedCount: z.int(),
        /** Requests among those of its newest 200 failed attempts whose delivery failed or is a dead letter. */
        attentionCount: z.int(),
      }),
    )
    .max(OVERVIEW_ENDPOINTS),
  /** An endpoint was created or deleted, so the list must be reloaded. */
  isListChanged: z.boolean(),
  openIncidentCount: z.int(),
  alarmedWatchdogCount: z.int(),
})

/** Deliveries of an action that wait for an attempt. */
const Waiting = z.object({
  actionId: z.uuid(),
  actionName: z.string(),
  endpointId: z.uuid(),
  endpointName: z.string(),
  isPaused: z.boolean(),
  /** At most 1,000 are counted. */
  waitingCount: z.int(),
  oldestAt: Timestamp.nullable(),
  nextAttemptAt: Timestamp.nullable(),
})

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

/**
 * Follows the workspace: yields its full state, then changes, coalesced to one event a second.
 *
 * @returns ends when the stream does
 */
async function* followWorkspace(
  ctx: Context,
  stream: OpenStream,
): AsyncGenerator<z.output<typeof WorkspaceEvent>, void> {
  const follower = joinWorkspace(ctx, stream.ended)
  // Needed if the reader disconnects without reading.
  stream.ended.addEventListener('abort', () => follower.leave(), { once: true })
  let known: ReadonlyMap<string, string> = new Map()
  let last = ''
  try {
    for (;;) {
      const overview = await follower.next()
      stream.throwIfRefused()
      if (overview === undefined) return
      const { alarmedWatchdogCount, endpoints, openIncidentCount } = overview
      const now = new Map(endpoints.map((row) => [row.id, JSON.stringify(row)]))
      const changed = endpoints.filter(({ id }: OverviewRow) => known.get(id) !== now.get(id))
      const isListChanged = [...now.keys()].join() !== [...known.keys()].join()
      const event = { endpoints: changed, isListChanged, openIncidentCount, alarmedWatchdogCount }
      const counts = `${openIncidentCount} ${alarmedWatchdogCount}`
      if (changed.length > 0 || isListChanged || counts !== last) yield WorkspaceEvent.parse(event)
      known = now
      last = counts
    }
  } finally {
    follower.leave()
  }
}
