import { z } from 'zod'
import type { Context } from '../api/context.ts'
import { get, router, typedStream } from '../api/route.ts'
import { Timestamp } from '../api/values.ts'
import { whenAborted } from '../platform/time/index.ts'
import { type OpenStream, openStream } from '../streams/index.ts'
import { Health, readHealth } from './health.ts'
import { OVERVIEW_ENDPOINTS, type OverviewRow } from './queries.ts'
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

/** Follow the whole workspace: counts of its endpoints, incidents, alarms. Read its health. */
export const overviewRoutes = router({
  follow: typedStream({ input: z.object({}), narrows: true }).subscription(({ ctx }) =>
    openStream(ctx, (open) => Promise.resolve(followWorkspace(ctx, open))),
  ),

  health: get('/api/v1/health', {
    summary: 'Read what waits in the workspace, and what is wrong',
    description:
      'Problems are open incidents, failing alert channels, paused actions with deliveries that wait, work that has been due for two minutes, and storage that is nearly full. `/readyz` has the state of the service itself.',
    input: z.object({}),
    output: Health,
    shared: [],
  }).query(({ ctx }) => readHealth(ctx)),
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
  whenAborted(stream.ended, () => follower.leave())
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
