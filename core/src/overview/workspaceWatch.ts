import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../api/context.ts'
import type { EndpointChanges } from '../platform/changes/index.ts'
import { type Overview, readOverview } from './queries.ts'

/** A workspace is looked at this often at most, for all who follow it in this process. */
const BEAT_MILLISECONDS = 1_000

/** One of those who follow a workspace. */
export interface WorkspaceFollower {
  /** The newest overview, once there is another than the last one that was taken; undefined when the stream ended. */
  next(): Promise<Overview | undefined>
  leave(): void
}

/** What the followers of one workspace share: the last look, and who is told of it. */
interface WorkspaceWatch {
  overview: Overview | undefined
  readonly members: Set<() => void>
  readonly stopListening: () => void
}

const watches = new WeakMap<EndpointChanges, Map<string, WorkspaceWatch>>()

/**
 * Joins those who follow a workspace in this process. All of them share one look a second while something changes, and one
 * in five seconds while nothing does; a slow reader is behind by nothing but time, for it takes the newest overview
 * only. Where nobody follows, nothing is looked for.
 */
export function joinWorkspace(
  ctx: Pick<Context, 'db' | 'endpointChanges' | 'workspace' | 'onlyEndpointId' | 'log'>,
  ended: AbortSignal,
): WorkspaceFollower {
  const ofProcess = watches.get(ctx.endpointChanges) ?? new Map<string, WorkspaceWatch>()
  watches.set(ctx.endpointChanges, ofProcess)
  const name = `${ctx.workspace.id} ${ctx.onlyEndpointId ?? ''}`
  const watch = ofProcess.get(name) ?? startWatch(ctx)
  ofProcess.set(name, watch)
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
      if (ofProcess.get(name) === watch) ofProcess.delete(name)
    },
  }
}

function startWatch({
  db,
  endpointChanges,
  workspace,
  onlyEndpointId,
  log,
}: Parameters<typeof joinWorkspace>[0]): WorkspaceWatch {
  let isDirty = false
  let isLooking = false
  const look = async () => {
    while (isDirty && watch.members.size > 0) {
      isDirty = false
      try {
        watch.overview = await readOverview(db, workspace.id, onlyEndpointId)
        for (const wake of [...watch.members]) wake()
      } catch (error) {
        // The next change, or the next poll, looks again.
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
  // After whoever joins first has been counted among the members.
  queueMicrotask(change)
  return watch
}
