/** Who may search now, and who waits. */
export interface SearchQueue {
  /**
   * Takes a place of the workspace, or waits for one in order of arrival.
   *
   * @returns null when too many wait already; else a promise of what gives the place back
   * @throws the signal's reason, as a rejection, when the caller hangs up while it waits
   */
  join(workspaceId: string, signal: AbortSignal): Promise<() => void> | null
}

interface Line {
  running: number
  readonly waiting: Set<() => void>
}

/**
 * A queue in this process's memory.
 *
 * @param perWorkspace how many searches of one workspace run at once
 * @param waitingMax how many more of it may wait
 */
export function createSearchQueue({
  perWorkspace,
  waitingMax,
}: {
  perWorkspace: number
  waitingMax: number
}): SearchQueue {
  const lines = new Map<string, Line>()
  return {
    join(workspaceId, signal) {
      const line = lines.get(workspaceId) ?? { running: 0, waiting: new Set() }
      lines.set(workspaceId, line)
      const release = () => {
        const [next] = line.waiting
        if (next !== undefined) {
          // The place goes from hand to hand.
          line.waiting.delete(next)
          next()
          return
        }
        line.running -= 1
        if (line.running === 0) lines.delete(workspaceId)
      }
      if (line.running < perWorkspace) {
        line.running += 1
        return Promise.resolve(release)
      }
      if (line.waiting.size >= waitingMax) return null
      return new Promise((resolve, reject) => {
        const begin = () => {
          signal.removeEventListener('abort', leave)
          resolve(release)
        }
        const leave = () => {
          line.waiting.delete(begin)
          reject(signal.reason)
        }
        signal.addEventListener('abort', leave, { once: true })
        line.waiting.add(begin)
      })
    },
  }
}
