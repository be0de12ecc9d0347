/** The part of `navigator.locks` that is needed: it knows all tabs of the browser. */
export interface Locks {
  request(name: string, options: { signal?: AbortSignal }, hold: () => Promise<void>): Promise<void>
  query(): Promise<{ readonly pending?: readonly { readonly name?: string }[] }>
}

/** What seats need of the browser: replaced in tests. */
export interface SeatSurroundings {
  /** Undefined where the browser has none: pages over plain http from another machine. */
  readonly locks: Locks | undefined
  readonly sleep: (ms: number) => Promise<void>
  /** Whether people look at this tab now. */
  readonly isFocused: () => boolean
}

/**
 * Streams of all tabs together. Over HTTP/1.1 a browser has six connections to a host: one is the workspace's stream, and two
 * are left for calls.
 */
const SEATS = 3
/** How long a tab keeps its stream while others wait for theirs. */
const TURN_MS = { focused: 6_000, other: 1_500 } as const
const NAME = 'creel stream '

/**
 * Runs `start` while this tab may hold a stream, and what it answers when the turn ends: with more visible tabs than seats
 * they take turns of seconds, and each goes on where it ended. Without locks every tab has its stream.
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

/** Waits in the line of every seat, and leaves the others when one is free. Undefined when nobody wants it any more. */
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
      // Left the line.
      .catch(() => undefined),
  )
  return await Promise.race([seated.promise, Promise.all(lines).then(() => undefined)])
}

async function isWaitedFor(locks: Locks): Promise<boolean> {
  const { pending = [] } = await locks.query()
  return pending.some(({ name }) => name?.startsWith(NAME))
}

/** The tabs of this browser. */
export const tabs: SeatSurroundings = {
  locks: globalThis.navigator?.locks,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  isFocused: () => document.hasFocus(),
}
