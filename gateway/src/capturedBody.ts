import type { IncomingMessage } from 'node:http'

/** A body as it is kept. */
export interface CapturedBody {
  readonly bytes: Uint8Array
  /** Bytes received, also those that were not kept. */
  readonly sizeBytes: number
  /** True: over the cap, and `bytes` is a prefix. */
  readonly truncated: boolean
}

/** How much of an oversize body is kept: this, or the cap where that is smaller (CONTRACT, top). */
const OVERSIZE_PREFIX_BYTES = 65_536

/** Bounds the memory that bodies take while they arrive and wait to be stored, over all connections. */
export interface BodyBudget {
  /** @returns false when there is no room; then nothing was taken */
  take(bytes: number): boolean
  give(bytes: number): void
}

/** @param bytesMax of all bodies together */
export function createBodyBudget(bytesMax: number): BodyBudget {
  let taken = 0
  return {
    take(bytes) {
      if (taken + bytes > bytesMax) return false
      taken += bytes
      return true
    },
    give(bytes) {
      taken -= bytes
    },
  }
}

/**
 * Reads a body to its end. Past the cap the rest is counted and dropped, not buffered.
 *
 * @param onEnd called once, when the last byte has arrived: with the body, or with undefined when the budget had no
 *   room for it. Not called when the sender hangs up before: then nothing was received.
 * @returns gives back what the body took of the budget; to be called when it is not needed any more
 */
export function receiveBody(
  request: IncomingMessage,
  { bytesMax, budget }: { bytesMax: number; budget: BodyBudget },
  onEnd: (body: CapturedBody | undefined) => void,
): () => void {
  let chunks: Uint8Array[] = []
  let sizeBytes = 0
  let taken = 0
  let truncated = false
  let refused = false

  const release = () => {
    budget.give(taken)
    taken = 0
  }
  const refuse = () => {
    refused = true
    chunks = []
    release()
  }
  request.on('data', (chunk: Uint8Array) => {
    sizeBytes += chunk.length
    if (truncated || refused) return
    if (!budget.take(chunk.length)) return refuse()
    taken += chunk.length
    chunks.push(chunk)
    if (sizeBytes <= bytesMax) return
    truncated = true
    // A copy, so that the large chunks go.
    const prefix = Buffer.from(Buffer.concat(chunks).subarray(0, Math.min(OVERSIZE_PREFIX_BYTES, bytesMax)))
    release()
    chunks = [prefix]
  })
  request.on('end', () => {
    if (refused) return onEnd(undefined)
    const [first] = chunks
    const bytes = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks)
    onEnd({ bytes, sizeBytes, truncated })
  })
  request.on('close', () => {
    if (!request.complete) release()
  })
  return release
}
