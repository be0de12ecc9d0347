import type { Caller, Context } from '../api/context.ts'
import { DomainError } from '../api/errors.ts'
import type { Services } from '../api/services.ts'
import { takeRenewedSlot, takeSlot } from '../api/slots.ts'
import { recheckKey } from '../keys/index.ts'
import { changesOf } from '../platform/changes/index.ts'
import type { Db } from '../platform/db/index.ts'
import { gauge } from '../platform/metrics/index.ts'
import { stateOf } from '../platform/stateOf.ts'
import { whenAborted } from '../platform/time/index.ts'
import { recheckSession } from '../sessions/index.ts'

const streamsOpen = gauge('creel_streams_open', 'Streams of events that are open in this process')

/** Concurrent streams of a key, or of a signed-in browser, across all processes. */
const STREAMS_MAX = 8

export interface OpenStream {
  /**
   * Aborted when the client disconnects, the service stops, the caller may no longer call, or the stream has ended by
   * itself. Holders of slots and watches for the stream give them back then.
   */
  readonly ended: AbortSignal
  /** @throws DomainError `unauthorized` or `api_access_disabled` if the stream ended for that reason */
  throwIfRefused(): void
}

/**
 * Runs a stream within the caller's limits: takes one of its slots before anything is sent, keeps it while the stream
 * runs, and ends the stream when the key is revoked.
 *
 * @param begin creates the events, which must end soon after `ended` aborts
 * @throws DomainError `rate_limited` when {@link STREAMS_MAX} are open
 */
export async function openStream<Event>(
  ctx: Context,
  begin: (stream: OpenStream) => Promise<AsyncGenerator<Event, void>>,
): Promise<AsyncIterableIterator<Event, void>> {
  const noun = ctx.session === null ? 'streams of this key' : 'streams of this session'
  const freeSlot = await takeRenewedSlot(
    ctx,
    { scope: `stream:${ctx.callerId}`, max: STREAMS_MAX, noun },
    'the slot of a stream was not written',
  )
  const validity = watchCaller(ctx, ctx)
  const closed = new AbortController()
  const ended = AbortSignal.any([ctx.signal, ctx.stopping, validity.signal, closed.signal])
  const close = () => {
    if (closed.signal.aborted) return
    closed.abort()
    validity.release()
    streamsOpen.dec()
    freeSlot()
  }
  streamsOpen.inc()
  // Needed if the reader disconnects before it requests the first event: then the generator never runs.
  whenAborted(ended, close)
  try {
    const events = await begin({ ended, throwIfRefused: () => validity.signal.throwIfAborted() })
    return closing(events, close)
  } catch (error) {
    close()
    throw error
  }
}

/** The same events; calls `close` when they end, and when the reader stops reading, even before the first event. */
function closing<Event>(
  events: AsyncGenerator<Event, void>,
  close: () => void,
): AsyncIterableIterator<Event, void> {
  return {
    async next() {
      try {
        const result = await events.next()
        if (result.done === true) close()
        return result
      } catch (error) {
        close()
        throw error
      }
    },
    async return() {
      close()
      return await events.return()
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** A call that waits. It ends like a stream, and after its time. */
export interface WaitingCall extends OpenStream {
  readonly changes: ReturnType<typeof changesOf>
}

/**
 * Runs a call that waits for changes of an endpoint, within the caller's limits: it has one of the caller's slots of its
 * kind, and ends when the key is revoked.
 *
 * @param of `kind` names the slots, `noun` names them in the refusal
 * @throws DomainError `rate_limited` when the caller has `max` calls of the kind
 */
export async function waitForChanges<Answer>(
  ctx: Context,
  endpointId: string,
  of: { readonly kind: string; readonly max: number; readonly seconds: number; readonly noun: string },
  wait: (call: WaitingCall) => Promise<Answer>,
): Promise<Answer> {
  const longestMs = of.seconds * 1000
  const slot = await takeSlot(ctx, {
    scope: `${of.kind}:${ctx.callerId}`,
    max: of.max,
    longestMs,
    noun: of.noun,
  })
  const validity = watchCaller(ctx, ctx)
  const ended = AbortSignal.any([ctx.signal, ctx.stopping, validity.signal, AbortSignal.timeout(longestMs)])
  // Subscribes before the first look, so that no change in between is missed.
  const changes = changesOf(ctx, endpointId, ended)
  try {
    return await wait({ changes, ended, throwIfRefused: () => validity.signal.throwIfAborted() })
  } finally {
    changes.stop()
    validity.release()
    await slot.free()
  }
}

/** A revoked key ends its streams within this time, plus the duration of one query. */
const RECHECK_MILLISECONDS = 5_000

/** Validity of a caller. The signal aborts when the caller may no longer call, with the refusal as its reason. */
interface CallerValidity {
  readonly signal: AbortSignal
  /** Releases the watch. It stops when all its holders have released it. */
  release(): void
}

interface Watched {
  readonly ended: AbortController
  readonly timer: ReturnType<typeof setInterval>
  holders: number
}

const watchedOf = stateOf<Db, Map<string, Watched>>(() => new Map())

/**
 * Checks periodically whether a caller may still call, for calls that outlive their authentication. All streams of a
 * caller from one address share the check. An unreachable database ends no stream.
 */
export function watchCaller(services: Services, caller: Caller): CallerValidity {
  const ofDatabase = watchedOf(services.db)
  const name = `${caller.callerId} ${caller.address}`
  const watched = ofDatabase.get(name) ?? startWatching(services, caller)
  ofDatabase.set(name, watched)
  watched.holders += 1
  let isReleased = false
  return {
    signal: watched.ended.signal,
    release() {
      if (isReleased) return
      isReleased = true
      watched.holders -= 1
      if (watched.holders > 0) return
      clearInterval(watched.timer)
      if (ofDatabase.get(name) === watched) ofDatabase.delete(name)
    },
  }
}

function startWatching(services: Services, caller: Caller): Watched {
  const ended = new AbortController()
  const check = () => {
    recheck(services, caller).catch((error: unknown) => {
      if (error instanceof DomainError) ended.abort(error)
      else
        services.log.warn(
          { err: error },
          'the key of a stream could not be checked: the stream stays open until the next check',
        )
    })
  }
  const timer = setInterval(check, RECHECK_MILLISECONDS)
  timer.unref()
  return { ended, timer, holders: 0 }
}

async function recheck(services: Services, { session, key, address }: Caller): Promise<void> {
  if (session !== null) await recheckSession(services, { sessionId: session.id, address })
  else if (key !== null) await recheckKey(services, { keyId: key.id, address })
}
