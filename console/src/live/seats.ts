/** The part of `navigator.locks` that is used. Locks are shared by all tabs of the browser. */
export interface Locks {
  request(name: string, options: { signal?: AbortSignal }, hold: () => Promise<void>): Promise<void>
  query(): Promise<{ readonly pending?: readonly { readonly name?: string }[] }>
}

/** The parts of the browser that seats use; replaced in tests. */
export interface SeatSurroundings {
  /** Undefined where the browser has none: on pages over plain http from another machine. */
  readonly locks: Locks | undefined
  readonly sleep: (ms: number) => Promise<void>
  /** Whether this tab has the focus. */
  readonly isFocused: () => boolean
}

/**
 * Streams of all tabs together. Over HTTP/1.1 a browser has six connections to a host: one is the workspace's stream,
 * and two are left for calls.
 */
const SEATS = 3
/** Time that a tab keeps its stream while others wait. */
const TURN_MS = { focused: 6_000, other: 1_500 } as const
const NAME = 'creel stream '

/**
 * Runs `start` while this tab may hold a stream, and calls the function that it returned when the turn ends. With more
 * visible tabs than seats, tabs take turns of some seconds, and each resumes where it ended. Without locks every tab
 * has its own stream.
 *
 * @returns ends it for good
 */
export function holdSeat(start: () => () => void, around: SeatSurroundings): () => void {
  const { locks } = around
  if (locks === undefined) return start()
  const over = new AbortController()
  void takeTurns(start, locks, around, over.signal)
  return () => over.abort()
}

async function takeTurns(
  start: () => () => void,
  locks: Locks,
  { sleep, isFocused }: SeatSurroundings,
  over: AbortSignal,
): Promise<void> {
  const ended = new Promise<void>((resolve) =>
    over.addEventListener('abort', () => resolve(), { once: true }),
  )
  while (!over.aborted) {
    const release = await takeSeat(locks, over)
    if (release === undefined) return
    const stop = over.aborted ? () => {} : start()
    do await Promise.race([ended, sleep(isFocused() ? TURN_MS.focused : TURN_MS.other)])
    while (!over.aborted && !(await isWaitedFor(locks)))
    stop()
    release()
  }
}

/** Queues for every seat, and leaves the other queues when one is free. Undefined when aborted. */
async function takeSeat(locks: Locks, over: AbortSignal): Promise<(() => void) | undefined> {
  const seated = Promise.withResolvers<() => void>()
  const enough = new AbortController()
  const signal = AbortSignal.any([enough.signal, over])
  const lines = Array.from({ length: SEATS }, (_, seat) =>
    locks
      .request(NAME + seat, { signal }, () => {
        if (enough.signal.aborted) return Promise.resolve()
        enough.abort()
        return new Promise<void>((release) => seated.resolve(release))
      })
      // Aborted: left the queue.
      .catch(() => undefined),
  )
  return await Promise.race([seated.promise, Promise.all(lines).then(() => undefined)])
}

async function isWaitedFor(locks: Locks): Promise<boolean> {
  const { pending = [] } = await locks.query()
  return pending.some(({ name }) => name?.startsWith(NAME))
}

export const tabs: SeatSurroundings = {
  locks: globalThis.navigator?.locks,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  isFocused: () => document.hasFocus(),
}
