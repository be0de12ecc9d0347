/** Shorter pieces are the requests and answers of every day; the engine collects them as it goes. */
const LARGE_PIECE_BYTES_MIN = 16 * 1024
/** A collection takes some 40 ms, so one in this many bytes costs whoever moves large bodies little. */
const BYTES_BETWEEN_COLLECTIONS = 32 * 1024 * 1024

let uncollectedBytes = 0

/**
 * Collects the memory of large pieces that were stored, sent or dropped. Each has memory of its own outside of the engine's
 * heap, and the engine lets it grow to a multiple of what is in use before it collects: whoever sends a lot that is refused,
 * or asks for large files and reads none, would take hundreds of megabytes.
 *
 * @param bytes how many have just been received, made or handed to a socket
 */
export function countPiece(bytes: number): void {
  if (bytes < LARGE_PIECE_BYTES_MIN) return
  uncollectedBytes += bytes
  if (uncollectedBytes < BYTES_BETWEEN_COLLECTIONS) return
  uncollectedBytes = 0
  Bun.gc(true)
}
