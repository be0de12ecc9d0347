import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../api/context.ts'
import type { EndpointChanges } from '../platform/changes/index.ts'
import { stateOf } from '../platform/stateOf.ts'
import { type Attention, type Overview, readAttention, readOverview } from './queries.ts'

/** Minimum interval of reading a workspace, for all its followers in this process. */
const BEAT_MILLISECONDS = 1_000

/** Minimum interval of counting what needs attention, which looks at more rows. */
const ATTENTION_MILLISECONDS = 5_000

/** Reader of a stream of overviews. It skips overviews that it is too slow to take. */
export interface WorkspaceFollower {
  /**
   * Resolves with the newest overview once it differs from the last one returned; undefined when the stream has ended.
   */
  next(): Promise<Overview | undefined>
  leave(): void
}

/** State shared by the followers of one workspace. */
interface WorkspaceWatch {
  overview: Overview | undefined
  readonly members: Set<() => void>
  readonly stopListening: () => void
}

const watchesOf = stateOf<EndpointChanges, Map<string, WorkspaceWatch>>(() => new Map())

/**
 * Adds a follower of a workspace in this process. All its followers share one read a second while something changes,
 * and one in five seconds while nothing does. A slow reader gets only the newest overview, so it causes no backlog.
 * Without followers nothing is read.
 */
export function joinWorkspace(
  ctx: Pick<Context, 'db' | 'clock' | 'endpointChanges' | 'workspace' | 'onlyEndpointId' | 'log'>,
  ended: AbortSignal,
): WorkspaceFollower {
  const watches = watchesOf(ctx.endpointChanges)
  const name = `${ctx.workspace.id} ${ctx.onlyEndpointId ?? ''}`
  const watch = watches.get(name) ?? startWatch(ctx)
  watches.set(name, watch)
  let taken: Overview | undefined
  let resume = () => {}
  const wake = () => resume()
  watch.members.add(wake)
  ended.addEventListener('abort', wake, { once: true })
  return {
    async next() {
      while (!ended.aborted && watch.overview === taken) {
        await new Promise<void>((resolve) => {
          resume = resolve
        })
      }
      taken = watch.overview
      return ended.aborted ? undefined : taken
    },
    leave() {
      watch.members.delete(wake)
      ended.removeEventListener('abort', wake)
      if (watch.members.size > 0) return
      watch.stopListening()
      if (watches.get(name) === watch) watches.delete(name)
    },
  }
}

function startWatch({
  db,
  clock,
  endpointChanges,
  workspace,
  onlyEndpointId,
  log,
}: Parameters<typeof joinWorkspace>[0]): WorkspaceWatch {
  let isDirty = false
  let isLooking = false
  let attention: Attention = new Map()
  let attentionAt = Number.NEGATIVE_INFINITY
  const look = async () => {
    while (isDirty && watch.members.size > 0) {
      isDirty = false
      try {
        // The wall clock may be set back, and nothing would be counted until it has caught up.
        if (performance.now() - attentionAt >= ATTENTION_MILLISECONDS) {
          attentionAt = performance.now()
          attention = await readAttention(db, workspace.id, onlyEndpointId)
        }
        watch.overview = await readOverview(db, workspace.id, onlyEndpointId, {
          attention,
          now: clock.now(),
        })
        for (const wake of [...watch.members]) wake()
      } catch (error) {
        // The next change, or the next poll, tries again.
        log.warn({ err: error }, 'a workspace that is followed could not be read')
      }
      await sleep(BEAT_MILLISECONDS, undefined, { ref: false })
    }
    isLooking = false
  }
  const change = () => {
    isDirty = true
    if (isLooking) return
    isLooking = true
    void look()
  }
  const watch: WorkspaceWatch = {
    overview: undefined,
    members: new Set(),
    stopListening: endpointChanges.onAny((endpointId) => {
      const isOurs = endpointId === null || watch.overview?.endpoints.some(({ id }) => id === endpointId)
      if (isOurs === true) change()
    }),
  }
  // After the first member was added.
  queueMicrotask(change)
  return watch
}
