import { within } from '@creel/core/platform/time'
import { createParser, type EventSourceMessage } from 'eventsource-parser'

/** Silence after which the server counts as gone: it sends a comment every 15 s. */
export const SILENCE_MILLISECONDS = 40_000

/** One event of a stream, or a heartbeat. */
export type Frame =
  | { readonly kind: 'event'; readonly event: EventSourceMessage }
  | { readonly kind: 'alive' }

/**
 * The frames of an event stream as they arrive. Ends when the server ends the stream.
 *
 * @throws Error when the connection breaks, or is silent for 40 s while the caller waits for the next frame
 */
export async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const frames: Frame[] = []
  const parser = createParser({
    onEvent: (event) => frames.push({ kind: 'event', event }),
    onComment: () => frames.push({ kind: 'alive' }),
  })
  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const piece = await within(reader.read(), SILENCE_MILLISECONDS)
      if (piece === undefined) throw new Error(`no data for ${SILENCE_MILLISECONDS / 1000} s`)
      const { done, value } = piece
      if (done) return
      parser.feed(decoder.decode(value, { stream: true }))
      yield* frames.splice(0)
    }
  } finally {
    // Not awaited: a broken connection may never answer.
    reader.cancel().catch(() => undefined)
  }
}
