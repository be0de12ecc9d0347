import type { Services } from '../api/services.ts'
import { run, statement } from '../platform/db/index.ts'
import { within } from '../platform/time/index.ts'
import { CHECK_SECONDS, SENDS_OF_PROCESS } from './bounds.ts'
import { endInvalid } from './end.ts'
import { eventSubscriptions } from './metrics.ts'
import { sendPace } from './pace.ts'
import { pullEvents } from './pull.ts'
import { claimMessages, sendClaimed } from './send.ts'

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

/** The sending of events of this process. */
export interface SubscriptionSender {
  /** Takes no further events, and waits for attempts under way, `timeoutMs` at most. */
  stop(timeoutMs: number): Promise<void>
}

/**
 * Sends events to callbacks until stopped. Events are pulled: requests are read after they were stored, so that captures
 * do nothing for subscriptions. Without subscriptions it only asks for some, once a second at most and only after
 * captures.
 */
export function startSubscriptionSender(services: Services): SubscriptionSender {
  const sending = new Set<Promise<void>>()
  const pace = sendPace()
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
    await pullEvents(services)
    const restMs = (performance.now() - startedAt) * LOOK.rest
    lookAt = performance.now() + Math.min(LOOK.longestMs, Math.max(LOOK.shortestMs, restMs))
  }

  const send = async () => {
    const room = pace.room(SENDS_OF_PROCESS - sending.size)
    if (room === 0) return
    const messages = await claimMessages(services, room)
    pace.count(messages.length)
    for (const message of messages) {
      const attempt = sendClaimed(services, message)
        .catch((err: unknown) => services.log.warn({ err }, 'an event was not recorded: it is sent again'))
        .finally(() => {
          sending.delete(attempt)
          wake.resolve()
        })
      sending.add(attempt)
    }
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
    if (!isStopping) await send()
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
      await within(Promise.allSettled(sending), timeoutMs)
    },
  }
}
