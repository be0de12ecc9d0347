import type { IncomingMessage } from 'node:http'

/** Cuts off senders whose request stops arriving. */
export interface SilentSenders {
  /** Watches a request whose body is still to come, until it has ended. */
  watch(request: IncomingMessage): void
  stop(): void
}

/**
 * A deadline of our own: Bun's node:http enforces no timeout on a body that stalls.
 *
 * One timer looks at everything that is still arriving; a request costs two listeners, and a chunk the writing
 * of one number. A sender that keeps sending, however slowly, is never cut.
 *
 * @param silenceSeconds how long a sender may send nothing before its connection is destroyed (CONTRACT R17)
 */
export function createSilentSenders(silenceSeconds: number): SilentSenders {
  const intervalMs = Math.min(1000, (silenceSeconds * 1000) / 10)
  const allowedTicks = Math.ceil((silenceSeconds * 1000) / intervalMs)
  const lastByteTicks = new Map<IncomingMessage, number>()
  let tick = 0
  const timer = setInterval(() => {
    tick += 1
    for (const [request, lastByteTick] of lastByteTicks) {
      // A paused one may well be sending: it is we who do not read.
      if (request.isPaused()) lastByteTicks.set(request, tick)
      else if (tick - lastByteTick > allowedTicks) request.socket.destroy()
    }
  }, intervalMs)
  timer.unref()
  return {
    watch(request) {
      const forget = () => lastByteTicks.delete(request)
      lastByteTicks.set(request, tick)
      request.on('data', () => lastByteTicks.set(request, tick))
      request.on('end', forget)
      request.on('close', forget)
    },
    stop: () => clearInterval(timer),
  }
}
