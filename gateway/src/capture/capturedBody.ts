import type { WireHeader } from '@creel/core/engine/message'
import { inSlices } from '@creel/core/platform/turns'
import type { WireExchange } from '../http/exchange.ts'
import { Segments } from '../http/segments.ts'
import type { BodyShare } from './bodyBudget.ts'

/** A received body, as it will be stored. */
export interface CapturedBody {
  readonly bytes: Uint8Array
  /** Bytes received, also those that were not kept. */
  readonly sizeBytes: number
  /** True: over the cap, and `bytes` is a prefix. */
  readonly truncated: boolean
  /** The trailer fields of a chunked body. */
  readonly trailers: readonly WireHeader[]
}

/** Size of the prefix that is kept of an oversize body, unless the cap is smaller. */
const OVERSIZE_PREFIX_BYTES = 65_536

/** Joining the pieces of a longer body takes long, and other work runs in between. */
const LONG_BODY_BYTES = 1024 * 1024

const NO_TRAILERS: readonly WireHeader[] = []

/**
 * Callbacks for the end of a body. One of them is called, once; neither if the sender disconnects first, since then
 * nothing was received.
 */
export interface BodyEnd {
  onBody(body: CapturedBody): void
  /** There is no room for the body; the rest of it is not read. */
  onRefused(): void
  /** The body is given up because one of the above threw after a wait, or the wait itself. */
  onError(error: unknown): void
}

/**
 * Reads a body to its end. Beyond the cap, bytes are counted and dropped, not buffered. While there is no room, reading
 * from the sender is paused.
 *
 * @param share released here when the body is refused or never ends, else by its caller
 */
export function receiveBody(
  exchange: Pick<WireExchange, 'takeWhole' | 'receive' | 'pause' | 'resume'>,
  { bytesMax, share }: { bytesMax: number; share: BodyShare },
  end: BodyEnd,
): void {
  const whole = exchange.takeWhole()
  if (whole === undefined) {
    receivePieces(exchange, { bytesMax, share }, end)
    return
  }
  const truncated = whole.length > bytesMax
  const bytes = truncated ? prefixOf(whole, bytesMax) : whole
  const body: CapturedBody = { bytes, sizeBytes: whole.length, truncated, trailers: NO_TRAILERS }
  const conclude = (hasRoom: boolean) => {
    if (hasRoom) return end.onBody(body)
    share.release()
    end.onRefused()
  }
  const taken = share.take(bytes.length)
  if (taken === true) end.onBody(body)
  else {
    taken.then(conclude).catch((error: unknown) => {
      share.release()
      end.onError(error)
    })
  }
}

function receivePieces(
  exchange: Pick<WireExchange, 'receive' | 'pause' | 'resume'>,
  { bytesMax, share }: { bytesMax: number; share: BodyShare },
  end: BodyEnd,
): void {
  const kept = new Segments()
  let prefix: Buffer | undefined
  let sizeBytes = 0
  let isOver = false
  /** Pending while a piece waits for room. */
  let room: Promise<void> | undefined
  const keep = () => {
    if (sizeBytes <= bytesMax) return
    prefix = kept.take(prefixBytes(bytesMax))
    share.release(prefix.length)
  }
  const awaitRoom = async (taken: Promise<boolean>) => {
    exchange.pause()
    const hasRoom = await taken
    room = undefined
    if (isOver) return
    if (hasRoom) keep()
    else {
      isOver = true
      share.release()
      end.onRefused()
    }
    exchange.resume()
  }
  const fail = (error: unknown) => {
    isOver = true
    share.release()
    end.onError(error)
  }
  const conclude = (trailers: readonly WireHeader[], bytes = prefix ?? kept.take()) => {
    if (isOver) return
    isOver = true
    end.onBody({ bytes, sizeBytes, truncated: prefix !== undefined, trailers })
  }
  const concludeLater = async (trailers: readonly WireHeader[]) => {
    await room
    const isLong = prefix === undefined && kept.length >= LONG_BODY_BYTES
    conclude(trailers, isLong ? await inSlices(kept.takeInSteps()) : undefined)
  }
  exchange.receive({
    onData(piece) {
      sizeBytes += piece.length
      if (prefix !== undefined) return
      kept.append(piece)
      const taken = share.take(piece.length)
      if (taken === true) keep()
      else room = awaitRoom(taken).catch(fail)
    },
    onEnd(trailers) {
      if (room === undefined && kept.length < LONG_BODY_BYTES) conclude(trailers)
      else concludeLater(trailers).catch(fail)
    },
    onAbort() {
      isOver = true
      share.release()
    },
  })
}

/** A copy, so that the large body can be freed. */
function prefixOf(body: Buffer, bytesMax: number): Buffer {
  return Buffer.from(body.subarray(0, prefixBytes(bytesMax)))
}

function prefixBytes(bytesMax: number): number {
  return Math.min(OVERSIZE_PREFIX_BYTES, bytesMax)
}
