import type { z } from 'zod'
import type { Context } from '../api/context.ts'
import type { OpenStream } from '../streams/index.ts'
import type { OverviewRow } from './queries.ts'
import { WorkspaceEvent } from './schema.ts'
import { joinWorkspace } from './workspaceWatch.ts'

/**
 * Follows the workspace: yields its full state, then changes, coalesced to one event a second.
 *
 * @returns ends when the stream does
 */
export async function* followWorkspace(
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
