import type { Services } from '../api/services.ts'
import { run, statement } from '../platform/db/index.ts'
import { within } from '../platform/time/index.ts'
import { CHECK_SECONDS } from './declarations.ts'
import { endInvalid } from './end.ts'
import { eventSubscriptions, pullEvents } from './pull.ts'

/** Pause between two rounds, in milliseconds, while there are subscriptions. */
const PAUSE_MS = { shortest: 100, longest: 1_000 } as const
/** Pause after a look at new requests, as a multiple of its length, so that it takes a fortieth of the time. */
const LOOK = { shortestMs: 250, rest: 40, longestMs: 5_000 } as const
/** Least time between two questions whether there is any subscription, in milliseconds. */
const ASK_MS = 1_000

const STATES = statement(
  'states of subscriptions',
  `select count(*)::int as count, count(*) filter (where failed_since is not null)::int as failing,
    count(*) filter (where throttled_until > $1::timestamptz)::int as throttled
  from event_subscriptions where expires_at > $1::timestamptz`,
)

/** The reading of events of this process. */
export interface EventReader {
  /** Takes no further events. */
  stop(timeoutMs: number): Promise<void>
}

/**
 * Reads the events of subscriptions until stopped, and queues them for their callbacks. Requests are read after they were
 * stored, so that captures do nothing for subscriptions. Without subscriptions it polls for one at most once a second,
 * after captures.
 */
export function startEventReader(services: Services): EventReader {
  let isStopping = false
  let hasSubscriptions = true
  let askedAt = Number.NEGATIVE_INFINITY
  let checkedAt = Number.NEGATIVE_INFINITY
  let lookAt = Number.NEGATIVE_INFINITY
  let hasNews = true
  let wake = Promise.withResolvers<void>()
  const stopListening = services.endpointChanges.onAny(() => {
    hasNews = true
    wake.resolve()
  })

  const check = async () => {
    const [states] = await run(services.db, STATES, [services.clock.now()])
    const { count = 0, failing = 0, throttled = 0 } = states ?? {}
    eventSubscriptions.set({ state: 'failing' }, failing)
    eventSubscriptions.set({ state: 'throttled' }, throttled)
    eventSubscriptions.set({ state: 'active' }, count - failing)
    hasSubscriptions = count > 0
  }

  const look = async () => {
    const startedAt = performance.now()
    hasNews = false
    // Further events of a burst, which no change announces, and those for which there was no room.
    if (await pullEvents(services)) hasNews = true
    const restMs = (performance.now() - startedAt) * LOOK.rest
    lookAt = performance.now() + Math.min(LOOK.longestMs, Math.max(LOOK.shortestMs, restMs))
  }

  const round = async () => {
    const now = performance.now()
    if (!hasSubscriptions) {
      if (now - askedAt < ASK_MS) return
      askedAt = now
      await check()
      if (!hasSubscriptions) return
    }
    if (now - checkedAt >= CHECK_SECONDS * 1000) {
      checkedAt = now
      await endInvalid(services)
      await check()
    }
    if (hasNews && now >= lookAt) await look()
  }

  const loop = async () => {
    while (!isStopping) {
      wake = Promise.withResolvers()
      try {
        await round()
      } catch (err) {
        services.log.warn({ err }, 'events of subscriptions wait: the next round goes on')
        await within(wake.promise, PAUSE_MS.longest)
      }
      if (isStopping) return
      if (hasSubscriptions) await within(wake.promise, PAUSE_MS.longest)
      else await wake.promise
      await within(stopped.promise, hasSubscriptions ? PAUSE_MS.shortest : ASK_MS)
    }
  }
  const stopped = Promise.withResolvers<void>()
  const running = loop()

  return {
    async stop(timeoutMs) {
      isStopping = true
      stopListening()
      stopped.resolve()
      wake.resolve()
      await within(running, timeoutMs)
    },
  }
}
