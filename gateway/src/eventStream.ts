import { refusalOf, type Services, STREAM_PING_MS } from '@creel/core'
import { within } from '@creel/core/platform/time'
import { isTrackedEnvelope } from '@trpc/server'

/**
 * The response that sends a stream's events as they occur (`text/event-stream`): `id`, the event's kind, and its data
 * as JSON. Sends a comment as a heartbeat when no event has been sent for a while. If the client reads slowly, the next
 * event waits.
 *
 * @param events the result of a stream's procedure: an async iterable of `tracked` events
 */
export function eventStream({ log }: Pick<Services, 'log'>, events: unknown): Response {
  if (!isAsyncIterable(events)) throw new Error('A stream answered no events.')
  const source = events[Symbol.asyncIterator]()
  const frames = framesOf(source)
  let isWanted = true
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await frames.next()
          // The reader left while the event was being made.
          if (!isWanted) return
          if (done === true) controller.close()
          else controller.enqueue(Buffer.from(value))
        } catch (error) {
          if (!isWanted) return
          // The status is already sent, so the client learns the reason when it reconnects.
          if (refusalOf(error) === null) log.error({ err: error }, 'a stream was interrupted by an error')
          controller.close()
        }
      },
      cancel() {
        isWanted = false
        // Not awaited: it settles only after the pending event.
        source.return?.().catch(() => undefined)
      },
    },
    // No read-ahead: an event may be megabytes long.
    { highWaterMark: 0 },
  )
  return new Response(body, {
    headers: {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      // Some proxies buffer answers unless a header forbids it.
      'X-Accel-Buffering': 'no',
    },
  })
}

async function* framesOf(events: AsyncIterator<unknown>): AsyncGenerator<string, void, undefined> {
  let next = events.next()
  for (;;) {
    const event = await within(next, STREAM_PING_MS)
    if (event === undefined) {
      yield ': ping\n\n'
      continue
    }
    if (event.done === true) return
    yield frameOf(event.value)
    next = events.next()
  }
}

function frameOf(event: unknown): string {
  if (!isTrackedEnvelope(event)) throw new Error('A stream sent an event without an id.')
  const [id, value] = event
  const { kind, ...data } = Object(value)
  return `id: ${id}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}
