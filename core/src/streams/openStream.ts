import type { Context } from '../api/context.ts'
import { takeRenewedSlot } from '../api/slots.ts'
import { gauge } from '../platform/metrics/index.ts'
import { watchCaller } from './callerValidity.ts'

const streamsOpen = gauge('creel_streams_open', 'Streams of events that are open in this process')

/** Concurrent streams of a key, or of a signed-in browser, across all processes. */
const STREAMS_MAX = 8

export interface OpenStream {
  /** Aborted when the client disconnects, the service stops, or the caller may no longer call. */
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
  const ended = AbortSignal.any([ctx.signal, ctx.stopping, validity.signal])
  let isClosed = false
  const close = () => {
    if (isClosed) return
    isClosed = true
    validity.release()
    streamsOpen.dec()
    freeSlot()
  }
  streamsOpen.inc()
  // Needed if the reader disconnects before it requests the first event: then the generator never runs.
  ended.addEventListener('abort', close, { once: true })
  if (ended.aborted) close()
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
