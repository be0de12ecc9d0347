import { hasAnswered, hasNotAnswered, reconnectMs, session } from '../outage.ts'
import { creel } from '../trpc.ts'
import { rejections } from './bars.ts'
import { hearStreamError, queryClient, readFailedAnew } from './queryClient.ts'
import { type Locks, tabs } from './seats.ts'
import { WorkspaceCache, type WorkspaceEvent } from './workspaceFeed.ts'

/** Name of the lock and channel with which one tab of the browser holds the stream for all. */
const NAME = 'creel workspace'
const HIDDEN_MS = 10_000
/** Polling interval where the browser cannot share a stream. */
const POLL_MS = 5_000

/** Messages between tabs. `join` requests the current state. */
type Said = { readonly kind: 'join' } | { readonly kind: 'heard'; readonly event: WorkspaceEvent }

/**
 * Keeps the sidebar's counts, lists and badges up to date while the page is shown. All tabs of the browser share one
 * stream, held by one of them.
 *
 * @returns ends it
 */
export function followWorkspace(): () => void {
  const cache = new WorkspaceCache(queryClient)
  const { locks } = tabs
  if (locks === undefined) {
    const timer = setInterval(() => {
      if (!document.hidden) cache.readAll()
    }, POLL_MS)
    return () => clearInterval(timer)
  }
  const others = new BroadcastChannel(NAME)
  const say = (said: Said) => others.postMessage(said)
  let lead: (() => void) | undefined
  let hiding: ReturnType<typeof setTimeout> | undefined
  const snapshot = new WorkspaceSnapshot()
  const hear = (event: WorkspaceEvent) => {
    snapshot.hear(event)
    cache.hear(event)
    rejections.hear(event, Date.now())
  }
  others.onmessage = ({ data }: MessageEvent<Said>) => {
    if (data.kind === 'heard') hear(data.event)
    else if (snapshot.isLed && snapshot.event !== undefined) say({ kind: 'heard', event: snapshot.event })
  }
  const begin = () => {
    say({ kind: 'join' })
    lead ??= leadWhileNeeded(locks, snapshot, (event) => {
      hear(event)
      say({ kind: 'heard', event })
    })
  }
  const end = () => {
    lead?.()
    lead = undefined
  }
  const onVisibility = () => {
    clearTimeout(hiding)
    if (document.hidden) hiding = setTimeout(end, HIDDEN_MS)
    else begin()
  }
  document.addEventListener('visibilitychange', onVisibility)
  if (!document.hidden) begin()
  return () => {
    document.removeEventListener('visibilitychange', onVisibility)
    clearTimeout(hiding)
    end()
    others.close()
  }
}

/** The current state as one event, for a tab that joins later. */
class WorkspaceSnapshot {
  /** Whether this tab holds the stream. */
  isLed = false
  event: WorkspaceEvent | undefined

  hear(event: WorkspaceEvent): void {
    const byId = new Map(this.event?.endpoints.map((one) => [one.id, one]))
    for (const one of event.endpoints) byId.set(one.id, one)
    this.event = { ...event, isListChanged: false, endpoints: [...byId.values()] }
  }
}

/** Waits until no other tab holds the stream, then holds it. */
function leadWhileNeeded(
  locks: Locks,
  snapshot: WorkspaceSnapshot,
  hear: (event: WorkspaceEvent) => void,
): () => void {
  const over = new AbortController()
  const hold = () =>
    new Promise<void>((release) => {
      if (over.signal.aborted) {
        release()
        return
      }
      snapshot.isLed = true
      const stop = stayConnected(hear)
      over.signal.addEventListener('abort', () => {
        snapshot.isLed = false
        stop()
        release()
      })
    })
  locks.request(NAME, { signal: over.signal }, hold).catch(() => undefined)
  return () => over.abort()
}

/** Keeps the stream open. Reconnects when it ends, with a growing delay while it fails. */
function stayConnected(hear: (event: WorkspaceEvent) => void): () => void {
  let failures = 0
  let stop = () => {}
  const open = () => {
    const { unsubscribe } = creel.workspace.follow.subscribe(
      {},
      {
        onConnectionStateChange: ({ error }) => {
          if (error !== null) hasNotAnswered()
        },
        onData: (event) => {
          hasAnswered()
          if (failures > 0) readFailedAnew()
          failures = 0
          hear(event)
        },
        onError: (error) => {
          hearStreamError(error)
          comeBack()
        },
        onComplete: () => comeBack(),
      },
    )
    stop = unsubscribe
  }
  const comeBack = () => {
    stop()
    const wait = reconnectMs(failures++)
    const timer = setTimeout(() => {
      // While signed out, the next attempt would be refused as well.
      if (session.get() === 'in') open()
      else comeBack()
    }, wait)
    stop = () => clearTimeout(timer)
  }
  open()
  return () => stop()
}
